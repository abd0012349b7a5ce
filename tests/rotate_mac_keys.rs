//! Replacing the key of sign-in codes, as docs/operations.md says.

use local::mail;
use serde_json::json;
use tests::{Sandbox, Stack, unused_email};

/// An address that no other test uses.
const CLIENT: &str = "192.0.2.77";

async fn log_in(stack: &Stack, keys: &str, email: &str, code: &str) -> u16 {
    let sandbox = Sandbox::with_variables(stack, "log-in", &[("CODE_KEY_IDS", keys)]).await;
    sandbox.post(CLIENT, &json!({"email": email, "code": code})).await.0
}

#[tokio::test]
async fn while_the_key_of_codes_is_replaced_every_code_signs_in() {
    let stack = Stack::connect();
    let (retired, new) = (stack.map.names["CodeKeys"].clone(), stack.new_mac_key().await);
    let (before, both) = (format!("{retired},{new}"), format!("{new},{retired}"));
    for (made_with, takers) in [
        (&retired, [(&before, 200), (&both, 200), (&new, 401)]),
        (&both, [(&before, 200), (&new, 200), (&retired, 401)]),
    ] {
        for (keys, expected) in takers {
            let email = unused_email();
            let sender = Sandbox::with_variables(&stack, "send-code", &[("CODE_KEY_IDS", made_with)]).await;
            assert_eq!(sender.post(CLIENT, &json!({"email": email})).await.0, 200);
            let code = mail::newest_code(&stack.map.mail, &email, 0).await.expect("a code");
            assert_eq!(log_in(&stack, keys, &email, &code).await, expected, "made with {made_with}, tried with {keys}");
        }
    }
}
