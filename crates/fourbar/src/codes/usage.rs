//! Pages of the codes that the command line can give.

use super::Page;

pub(crate) const PAGES: &[Page] = &[];
