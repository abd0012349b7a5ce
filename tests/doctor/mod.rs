//! `make doctor` against a stack in the local cloud: one in which everything is wrong, one as the operator's guide leaves it,
//! and one that failed.

use local::{cloud, paths::Paths};
use serde_json::{Value, json};
use shared::{chain::Chains, model::ChainId};
use tests::{RpcProxy, Stack, python};

/// Deploys a stage to a cloud of its own and asks the doctor.
async fn doctor(name: &str, given: &Value) -> (bool, String) {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local(name)).await.expect("a cloud");
    let (is_deployed, told) = run(&cloud, &["tests/doctor/deploy.py", &given.to_string()]).await;
    assert!(is_deployed, "{told}");
    run(&cloud, &["local/sam/doctor", "staging"]).await
}

/// Runs a script, and returns whether it succeeded, and what it printed.
async fn run(cloud: &str, arguments: &[&str]) -> (bool, String) {
    let output = python(cloud, arguments).await.expect("python runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

fn parameters(changed: &[(&str, &str)]) -> Value {
    let mut parameters = json!({
        "Stage": "staging", "MailSender": "moments-staging@example.com", "MailIdentity": "",
        "AlarmAddress": "operators@example.com", "OperatorSafe": "", "OperatorLanes": "", "TokenPublicKeys": "",
        "TokenIssuer": "", "DomainName": "", "LowLaneBalance": "20000000", "Chains": "[{\"id\": 8453}]",
    });
    for (name, value) in changed {
        parameters[name] = json!(value);
    }
    parameters
}

#[tokio::test]
async fn an_unfinished_stage_s_problems_are_named_with_what_to_do() {
    let stack = Stack::connect();
    let lacking = RpcProxy::in_front_of(&stack.map.rpc["1"], |call| {
        (call["method"] == "eth_getBlockReceipts")
            .then(|| json!({"error": {"code": -32601, "message": "Method not found"}}))
    });
    let nodes = json!({"8453": [lacking.await.url, "http://127.0.0.1:9"]});
    let empty_lane = "0x00000000000000000000000000000000000000aa";
    let former = json!({"role": "factory", "address": format!("0x{:040x}", 0xfa), "firstBlock": 1});
    let chains = json!([{"id": 8453, "contracts": {"former": [former]}}]).to_string();
    let changed = [
        ("OperatorLanes", empty_lane),
        ("OperatorSafe", empty_lane),
        ("CopyRegion", "eu-west-1"),
        ("Chains", chains.as_str()),
    ];
    let parameters = parameters(&changed);
    let base = "http://127.0.0.1:9/api";
    let given = json!({"parameters": parameters, "nodes": nodes, "base": base, "is_finished": false});
    let (is_well, told) = doctor("doctor-unfinished", &given).await;
    assert!(!is_well, "{told}");
    for problem in [
        "sign-in and writes have no keys yet: run make deploy",
        "TokenIssuer is empty: run make deploy",
        "SES doesn't know the sender moments-staging@example.com",
        "the alarm address operators@example.com isn't confirmed",
        "/.well-known/jwks.json answers nothing",
        "node 1 of chain 8453 is on chain 1: correct RpcUrls",
        "node 1 of chain 8453 lacks eth_getBlockReceipts",
        "node 2 of chain 8453 doesn't answer",
        "0x00000000000000000000000000000000000000fa is no factory of collections on chain 8453: correct Chains",
        "lane 1 (0x00000000000000000000000000000000000000aa) has 0.000000 on chain 8453",
        "isn't on chain 8453: run make operator",
        "the vault moments-staging in eu-west-1 isn't there",
    ] {
        assert!(told.contains(problem), "{problem}\n{told}");
    }
    assert!(!told.contains("127.0.0.1:9\n") && !told.contains("couldn't be checked"), "{told}");
}

#[tokio::test]
async fn nothing_is_wrong_with_a_finished_stage() {
    let stack = Stack::connect();
    let name = |name: &str| stack.map.names[name].as_str();
    let known: Chains = r#"[{"id": 8453}]"#.parse().expect("a chain");
    let factory = known.get(ChainId(8453)).expect("a chain").addresses.factory;
    let chains = json!([{"id": 8453, "contracts": {"factory": factory}}]).to_string();
    let parameters = parameters(&[
        ("Chains", chains.as_str()),
        ("OperatorLanes", name("OperatorLanes")),
        ("OperatorSafe", name("OperatorSafe")),
        ("TokenPublicKeys", name("TokenPublicKeys")),
        ("TokenIssuer", name("TokenIssuer")),
    ]);
    let nodes = json!({"8453": [stack.map.rpc["8453"], stack.map.rpc["8453"]]});
    let given = json!({"parameters": parameters, "nodes": nodes, "base": stack.map.api, "is_finished": true});
    let (_, told) = doctor("doctor-finished", &given).await;
    for part in ["stack", "alarms", "copies", "service", "chains"] {
        assert!(told.contains(&format!("{part}: well")), "{part}\n{told}");
    }
    // The local cloud has an account's sandbox and few executions of its own.
    assert!(!told.contains("sender"), "{told}");
}

/// What is wrong with these nodes before a deployment that keeps the template's chains.
const NODES: &str = r#"
import sys
sys.path.insert(0, "local/sam")
import account
class Wanted:
    parameter = account.Account.parameter
    wanted = {"RpcUrls": sys.argv[1]} if sys.argv[1:] else {}
print(*account.check_nodes(Wanted()))
"#;

#[tokio::test]
async fn a_chain_that_loses_its_nodes_by_a_slip_is_not_deployed() {
    let checked = async |given: &[&str]| {
        let arguments = [&["-c", NODES], given].concat();
        let (is_checked, told) = run("http://127.0.0.1:9", &arguments).await;
        assert!(is_checked, "{told}");
        told
    };
    let slip = checked(&[r#"{"1": ["https://a.example"], "84530": ["https://b.example"]}"#]).await;
    assert!(slip.contains("RpcUrls doesn't name chain 8453"), "{slip}");
    let fine: [&[&str]; 4] = [&[], &[r#"{"8453": ["https://b.example"]}"#], &[r#"{"8453": []}"#], &["****"]];
    for given in fine {
        assert_eq!(checked(given).await, "\n", "{given:?}");
    }
}

/// What a deployment sets in an account with this quota, of which the stage has 20 already, and what the doctor refuses. In
/// place of a quota that nobody may read, what is set already.
const RESERVATIONS: &str = r#"
import importlib.machinery, importlib.util, sys
sys.path.insert(0, "local/sam")
sys.dont_write_bytecode = True
import account
from botocore.exceptions import ClientError
loader = importlib.machinery.SourceFileLoader("deploy", "local/sam/deploy")
deploy = importlib.util.module_from_spec(importlib.util.spec_from_loader("deploy", loader))
loader.exec_module(deploy)
stage, quota, *given = sys.argv[1:]
class Wanted:
    known = {"ReserveConcurrency": quota} if quota in ("yes", "no") else {}
    stack_name = "moments"
    parameter = account.Account.parameter
    overrides = dict(each.split("=") for each in given)
    wanted = {"Stage": stage} | overrides
    def is_deployed(self): return True
    def aws(self, service): return self
    def get_paginator(self, name): return self
    def paginate(self, **stack):
        return [{"StackResourceSummaries": [{"LogicalResourceId": each, "PhysicalResourceId": each}
                                            for each in ("LogOutFunction", "ListCommentsFunction")]}]
    def get_function_concurrency(self, FunctionName):
        return {"LogOutFunction": {"ReservedConcurrentExecutions": 20}}[FunctionName]
    def get_account_settings(self):
        if not quota.isdigit():
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not authorized"}}, "GetAccountSettings")
        return {"AccountLimit": {"ConcurrentExecutions": int(quota), "UnreservedConcurrentExecutions": int(quota) - 20}}
print(*deploy.reserved(Wanted()), *account.check_reservations(Wanted()))
"#;

#[tokio::test]
async fn production_reserves_concurrency_where_the_account_has_room() {
    let decided = async |given: &[&str]| {
        let (is_decided, told) = run("http://127.0.0.1:9", &[&["-c", RESERVATIONS], given].concat()).await;
        assert!(is_decided, "{told}");
        told
    };
    let lacking = decided(&["production", "100"]).await;
    let missing = lacking.split("raised by ").nth(1).and_then(|rest| rest.split(',').next()).expect("a number");
    let quota = 100 + missing.parse::<u32>().expect("a number");
    let (enough, fewer) = (quota.to_string(), (quota - 1).to_string());
    assert_eq!(decided(&["production", &enough]).await, "ReserveConcurrency=yes\n");
    let none = decided(&["production", &fewer]).await;
    assert!(none.starts_with("ReserveConcurrency=no\nwarning: nothing is reserved: "), "{none}");
    assert!(none.contains("concurrent executions raised by 1, and deploy again"), "{none}");
    for (set, kept) in [("nothing", "no"), ("no", "no"), ("yes", "yes")] {
        let unread = decided(&["production", set]).await;
        assert!(
            unread.starts_with(&format!("ReserveConcurrency={kept}\nwarning: ReserveConcurrency stays ")),
            "{unread}"
        );
        assert!(unread.contains("can't be read: not authorized"), "{unread}");
    }
    assert_eq!(decided(&["production", &fewer, "ReserveConcurrency=no"]).await, "\n");
    assert_eq!(decided(&["staging", &enough]).await, "\n");
    for stage in ["staging", "production"] {
        let refused = decided(&[stage, &fewer, "ReserveConcurrency=yes"]).await;
        assert!(refused.contains("raised by 1, or set ReserveConcurrency=no"), "{refused}");
    }
}

#[tokio::test]
async fn copies_that_are_missing_or_can_be_deleted_are_named() {
    let parameters = parameters(&[("CopyRegion", "eu-west-1")]);
    let base = "http://127.0.0.1:9/api";
    let given = json!({"parameters": parameters, "nodes": {}, "base": base, "is_finished": false, "has_vault": true});
    let (_, told) = doctor("doctor-copies", &given).await;
    assert!(told.contains("RpcUrls doesn't name chain 8453"), "{told}");
    for problem in ["isn't locked", "has no copy of moments-staging-artists", "has no copy of moments-staging-secrets"]
    {
        assert!(told.contains(&format!("the vault moments-staging in eu-west-1 {problem}")), "{problem}\n{told}");
    }
}

#[tokio::test]
async fn what_a_failed_first_deployment_leaves_is_named_and_can_be_deleted() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("doctor-failed")).await.expect("a cloud");
    let look = ["local/sam/doctor", "staging", "--before-deployment"];
    let (can_deploy, told) = run(&cloud, &look).await;
    assert!(can_deploy && told.contains("names: well") && !told.contains("couldn't be checked"), "{told}");

    let (has_failed, told) = run(&cloud, &["tests/doctor/fail.py", "data"]).await;
    assert!(has_failed, "{told}");
    let (can_deploy, told) = run(&cloud, &look).await;
    assert!(!can_deploy, "{told}");
    for problem in [
        "moments-staging-data is ROLLBACK_COMPLETE, which no deployment can follow: run .tools/sam/bin/python local/sam/clean staging",
        "the table moments-staging-artists is there already",
        "the table moments-staging-documents is there already",
        "the table moments-staging-secrets is there already",
        "the bucket moments-staging-media-000000000000 is there already",
    ] {
        assert!(told.contains(problem), "{problem}\n{told}");
    }
    let (is_clean, told) = run(&cloud, &["local/sam/clean", "staging"]).await;
    assert!(is_clean && told.matches("deleted: ").count() == 5, "{told}");
    let (can_deploy, told) = run(&cloud, &look).await;
    assert!(can_deploy, "{told}");

    let (has_failed, told) = run(&cloud, &["tests/doctor/fail.py", "data", "ARTIST#1"]).await;
    assert!(has_failed, "{told}");
    let (is_clean, told) = run(&cloud, &["local/sam/clean", "staging"]).await;
    assert!(!is_clean && told.contains("kept: the table moments-staging-artists, which isn't empty"), "{told}");
}

#[tokio::test]
async fn a_stage_in_use_is_never_deleted() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("doctor-in-use")).await.expect("a cloud");
    let given = json!({"parameters": parameters(&[]), "nodes": {}, "base": "http://127.0.0.1:9", "is_finished": false});
    let (is_deployed, told) = run(&cloud, &["tests/doctor/deploy.py", &given.to_string()]).await;
    assert!(is_deployed, "{told}");
    let (is_clean, told) = run(&cloud, &["local/sam/clean", "staging"]).await;
    assert!(!is_clean && !told.contains("deleted"), "{told}");
    assert!(told.contains("kept: the stack moments-staging, which is CREATE_COMPLETE"), "{told}");
    assert!(told.contains("kept: the stack moments-staging-data, which is CREATE_COMPLETE"), "{told}");
}

#[tokio::test]
async fn data_stays_when_the_code_of_a_first_deployment_failed() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("doctor-code-failed")).await.expect("a cloud");
    let (has_failed, told) = run(&cloud, &["tests/doctor/fail.py", "code"]).await;
    assert!(has_failed, "{told}");
    let look = ["local/sam/doctor", "staging", "--before-deployment"];
    let (can_deploy, told) = run(&cloud, &look).await;
    assert!(!can_deploy && told.contains("moments-staging is ROLLBACK_COMPLETE"), "{told}");
    assert!(told.contains("names: well"), "{told}");

    let (is_clean, told) = run(&cloud, &["local/sam/clean", "staging"]).await;
    assert!(is_clean && told.matches("deleted: ").count() == 1, "{told}");
    assert!(
        told.contains("deleted: the stack moments-staging\n") && told.contains("kept: the stack moments-staging-data")
    );
    let (can_deploy, told) = run(&cloud, &look).await;
    assert!(can_deploy, "{told}");
}
