//! Writes the bundled traces into a folder: `cargo run -p kneepoint-emulator --example generate_traces -- traces`.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use kneepoint_emulator::generate::{BUNDLED_SEED, Profile, generate};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .ok_or("the folder to write to is missing")?;
    let folder = PathBuf::from(folder);
    for profile in Profile::ALL {
        let trace = generate(profile, BUNDLED_SEED, profile.bundled_duration());
        let file = File::create(folder.join(format!("{profile}.trace")))?;
        let mut writer = BufWriter::new(file);
        trace.write(&mut writer)?;
        writer.into_inner()?.sync_all()?;
    }
    Ok(())
}
