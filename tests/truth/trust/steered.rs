//! Manual changes of a load: they raise a caution, and the service is not blamed.

use super::{silent, warns};
use crate::support::{Ruler, Tool, alongside_first};

#[test]
fn a_load_that_was_paused_by_hand_says_so() {
    alongside_first(|| {
        let ruler = Ruler::start(&["--delay", "1ms"]);
        let load = |lines: &str| {
            ruler.get("/_test-server/clear");
            let args = [&ruler.url("/"), "-r", "500", "-d", "3s", "--steered", "--json"];
            let mut running = Tool::new(&args).start_steered();
            ruler.wait_for_requests(500);
            running.say(lines);
            running.wait().json()
        };
        let steered = load("{\"do\":\"pause\"}\n{\"do\":\"resume\"}");
        assert!(warns(&steered, "load_changed_manually").contains("paused from"), "{}", steered["cautions"]);
        silent(&steered, "offered_rate_missed");
        silent(&load(r#"{"do":"note","text":"no change"}"#), "load_changed_manually");
    });
}
