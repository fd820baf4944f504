//! The bundled traces are what the generator writes.

use std::fs;
use std::path::Path;

use kneepoint::traces;
use kneepoint_emulator::generate::{BUNDLED_SEED, Profile, generate};

#[test]
fn every_profile_is_bundled_byte_for_byte() {
    assert_eq!(traces::ALL, Profile::ALL.map(Profile::name));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("traces");
    for profile in Profile::ALL {
        let generated = generate(profile, BUNDLED_SEED, profile.bundled_duration());
        let mut written = Vec::new();
        generated.write(&mut written).unwrap();
        let file = fs::read(folder.join(format!("{profile}.trace"))).unwrap();
        assert!(written == file, "{profile}");
        assert_eq!(traces::by_name(profile.name()), Some(generated));
    }
}

#[test]
fn an_unknown_name_has_no_trace() {
    assert_eq!(traces::by_name("lte"), None);
}
