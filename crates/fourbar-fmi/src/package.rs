//! Units as files: description, model and libraries in one archive.

use crate::IDENTIFIER;
use crate::description::description;
use crate::unit::{FOLDER, SETTINGS, Source, Unit};
use fourbar::diagnostic::Diagnostic;
use fourbar_io::{Entry, Loaded, archive, fingerprint, write_model};
use std::path::Path;

/// The name of the library as cargo builds it on this system.
pub const LIBRARY: &str = if cfg!(windows) {
    "fourbar_fmi.dll"
} else if cfg!(target_os = "macos") {
    "libfourbar_fmi.dylib"
} else {
    "libfourbar_fmi.so"
};

/// Target of a library: its folder in a unit, and its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Such as `x86_64-linux`.
    pub tuple: &'static str,
    /// Such as `so`.
    pub ending: &'static str,
}

/// The platform of a shared library, from its first bytes.
pub fn platform(library: &[u8]) -> Option<Platform> {
    let word = |at: usize| Some(u16::from_le_bytes([*library.get(at)?, *library.get(at + 1)?]));
    let long = |at: usize| Some(u32::from(word(at)?) | u32::from(word(at + 2)?) << 16);
    let of = |tuple, ending| Some(Platform { tuple, ending });
    match library.get(..4)? {
        // ELF; the machine follows class and type.
        b"\x7fELF" => match (library.get(4)?, word(18)?) {
            (2, 62) => of("x86_64-linux", "so"),
            (2, 183) => of("aarch64-linux", "so"),
            (1, 3) => of("x86-linux", "so"),
            (2, 243) => of("riscv64-linux", "so"),
            _ => None,
        },
        // Mach-O of 64 bits, with the processor type.
        [0xcf, 0xfa, 0xed, 0xfe] => match long(4)? {
            0x0100_0007 => of("x86_64-darwin", "dylib"),
            0x0100_000c => of("aarch64-darwin", "dylib"),
            _ => None,
        },
        // Windows: the header states the location of the machine type.
        [b'M', b'Z', ..] => {
            let at = long(0x3c)? as usize;
            match (library.get(at..at + 4)?, word(at + 4)?) {
                (b"PE\0\0", 0x8664) => of("x86_64-windows", "dll"),
                (b"PE\0\0", 0xaa64) => of("aarch64-windows", "dll"),
                (b"PE\0\0", 0x014c) => of("x86-windows", "dll"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Packages a mechanism that was read from `folder`, with the files it uses and the libraries of one or more platforms.
pub fn package(source: Source, loaded: &Loaded, folder: Option<&Path>, libraries: &[Vec<u8>]) -> Result<(Unit, Vec<u8>), Diagnostic> {
    let (unit, mut files) = contents(source, loaded, folder)?;
    for library in libraries {
        let p = platform(library).ok_or_else(|| {
            Diagnostic::new("U501", "this is not a shared library for units")
                .help("give the library of `cargo build --release -p fourbar-fmi` for Linux, Windows or macOS")
        })?;
        files.push((format!("binaries/{}/{IDENTIFIER}.{}", p.tuple, p.ending), library.clone()));
    }
    Ok((unit, archive(&files.into_iter().map(|(name, bytes)| Entry::new(name, bytes)).collect::<Vec<_>>())))
}

/// Files by name, with their folders.
pub type Files = Vec<(String, Vec<u8>)>;

/// The files of a unit without its libraries.
///
/// A file in the format of another program is converted to ours, which does not need its meshes and included files.
pub fn contents(mut source: Source, loaded: &Loaded, folder: Option<&Path>) -> Result<(Unit, Files), Diagnostic> {
    let text = if loaded.imported.is_some() {
        let mut spec = loaded.spec.clone();
        spec.bodies.iter_mut().for_each(|b| b.1.shapes.clear());
        source.set.clear();
        source.file = "model.yaml".into();
        write_model(&spec)
    } else {
        loaded.places.source().to_string()
    };
    let mut files = vec![(source.file.clone(), text.into_bytes())];
    for (name, _) in loaded.data.iter().filter(|_| loaded.imported.is_none()) {
        let Some(folder) = folder else { continue };
        let bytes = fourbar_io::disk::read_bounded(&folder.join(name), 200 << 20).map_err(|why| {
            Diagnostic::new("M081", format!("the file `{name}` in the folder of the model cannot be read: {why}")).help("export it again")
        })?;
        files.push((name.replace('\\', "/"), bytes));
    }
    // The token changes with everything that affects the results.
    source.token.clear();
    let mut told = settings(&source)?;
    files.iter().for_each(|(name, bytes)| told += &format!("\n{name} {}", fingerprint(bytes)));
    source.token = format!("{{{}}}", fingerprint(format!("{} {told}", env!("CARGO_PKG_VERSION")).as_bytes()));
    let text = settings(&source)?;
    let again;
    let unit = if loaded.imported.is_some() {
        let written = String::from_utf8_lossy(&files[0].1);
        again = fourbar_io::read_model(&written, &fourbar_io::ReadOptions { large: true, ..Default::default() })
            .map_err(|e| e.cause().clone())?;
        Unit::new(source, &again, None)?
    } else {
        let path = folder.map(|f| f.join(&source.file));
        Unit::new(source, loaded, path.as_deref())?
    };
    let mut all =
        vec![("modelDescription.xml".to_string(), description(&unit).into_bytes()), (format!("resources/{SETTINGS}"), text.into_bytes())];
    all.extend(files.into_iter().map(|(name, bytes)| (format!("resources/{FOLDER}/{name}"), bytes)));
    Ok((unit, all))
}

fn settings(source: &Source) -> Result<String, Diagnostic> {
    serde_json::to_string_pretty(source).map_err(|e| Diagnostic::new("U502", format!("the settings cannot be written: {e}")))
}
