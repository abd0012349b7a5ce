//! Lets executables find the standard library, which a dynamic library shares with them: beside themselves.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // Calls within the library are bound when it is linked, and not at each start of a function.
        println!("cargo::rustc-link-arg=-Wl,-Bsymbolic");
    }
    let output = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // target/debug/build/third-party-…/out
    let Some(executables) = output.ancestors().nth(3) else { return Ok(()) };
    for library in fs::read_dir(standard_libraries()?)? {
        let library = library?.path();
        let name = library.file_name().unwrap_or_default();
        let is_dynamic = library.extension().is_some_and(|extension| extension == env::consts::DLL_EXTENSION);
        if is_dynamic && name.to_string_lossy().starts_with("libstd-") {
            link(&library, &executables.join(name))?;
        }
    }
    Ok(())
}

/// Folder of the compiler's own libraries for the target.
fn standard_libraries() -> io::Result<PathBuf> {
    let (compiler, target) = (env::var_os("RUSTC").unwrap_or_default(), env::var_os("TARGET").unwrap_or_default());
    let output = Command::new(compiler).args(["--print", "target-libdir", "--target"]).arg(target).output()?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) -> io::Result<()> {
    if name.symlink_metadata().is_ok() {
        fs::remove_file(name)?;
    }
    std::os::unix::fs::symlink(library, name)
}

#[cfg(not(unix))]
fn link(library: &Path, name: &Path) -> io::Result<()> {
    fs::copy(library, name).map(drop)
}
