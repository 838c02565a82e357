//! A plan of a console that is not safe while traffic flows: the commands of the staged way.

use serde_json::Value;

use super::fixture::open_session;
use fabdeck::operations::changes::changer::WriteAccess;

#[test]
fn a_plan_of_the_console_tells_the_commands_of_the_staged_way() {
    let mut driver = open_session("sim:demo");
    driver.state.writing = WriteAccess::Asked;
    driver
        .press(":mark space spine-1 enter 6 :preview space updn enter j :write-plan space a/new.plan enter");
    let (_, text) = driver.written.last().expect("a plan");
    let plan: Value = serde_json::from_str(text).unwrap();
    assert_eq!(plan["transition"]["safe"], false, "{}", plan["transition"]);
    let staged = &plan["transition"]["staged"];
    let through = staged["through"].as_str().expect("an engine to go through");
    let (to, marks) = ("fabdeck --source sim:demo", "--fail switch:spine-1 --lanes-in-force assumed");
    let commands = [
        format!("{to} route --engine {through} {marks} --lanes 1 -o a/new-first.plan"),
        format!("{to} --allow-write apply a/new-first.plan"),
        "fabdeck confirm ID".to_owned(),
        format!("{to} route --engine updn {marks} -o a/new-second.plan"),
        format!("{to} --allow-write apply a/new-second.plan"),
        "fabdeck confirm ID".to_owned(),
    ];
    let told: Vec<&str> =
        staged["commands"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(told, commands);
}
