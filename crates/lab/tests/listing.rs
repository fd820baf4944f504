//! What the command says of itself and of its controllers.

mod command;

use command::{all_refused, anywhere, json, stdout};

#[test]
fn every_controller_that_is_listed_can_be_named() {
    let list = json(anywhere(), "controllers");
    let names: Vec<&str> = list
        .iter()
        .filter_map(|entry| entry["name"].as_str())
        .collect();
    for name in ["knee", "bbr-s", "cubic", "quinn-cubic", "noq-bbr3"] {
        assert!(names.contains(&name), "{name}");
    }
    let table = stdout(anywhere(), "controllers");
    assert!(
        table.lines().all(|line| line.chars().count() <= 120),
        "{table}"
    );
    // Long sources take several lines.
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let table = squeezed(&table);
    for entry in &list {
        let name = entry["name"].as_str().expect("a name");
        for key in ["description", "source"] {
            let text = entry[key].as_str().expect("a text");
            assert!(
                !text.is_empty() && table.contains(&squeezed(text)),
                "{name}: {text}"
            );
        }
        let presets = entry["presets"].as_array().expect("an array");
        let stock = name.starts_with("quinn-") || name.starts_with("noq-");
        assert_eq!(presets.is_empty(), stock, "{name}");
        for preset in presets {
            let named = format!("{name}:{}", preset.as_str().expect("a text"));
            let arguments = format!("compare --rate 1Mbps --duration 100ms --controllers {named}");
            assert_eq!(json(anywhere(), &arguments)[0]["controller"], named);
        }
    }
    let bbr = list.iter().find(|entry| entry["name"] == "bbr");
    assert_eq!(bbr.expect("it is there")["presets"][0], "paper");
}

#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(anywhere(), &format!("completions {shell}"));
        for word in ["compare", "reproduce", "start-gap", "controllers"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn each_command_has_a_page_of_the_manual() {
    let page = stdout(anywhere(), "man");
    assert!(page.contains(".TH kneepoint 1"), "{page}");
    for command in ["compare", "relay", "controllers"] {
        assert!(
            page.contains(&format!("kneepoint\\-{command}(1)")),
            "{command}: {page}"
        );
    }
    assert!(stdout(anywhere(), "man compare").contains("\\-\\-start\\-gap"));
    assert!(stdout(anywhere(), "man trace generate").contains("\\-\\-profile"));
    let cases = "
completions ksh => 'ksh' | bash
man paper => kneepoint: unknown command 'paper' | compare
man relay up => unknown command 'up' | relay has no commands
controllers --format csv => --format | csv
";
    all_refused(anywhere(), cases);
}
