//! Pages of the codes that solving can give.

use super::Page;

pub(crate) const PAGES: &[Page] = &[];
