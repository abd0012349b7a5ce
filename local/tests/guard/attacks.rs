//! What somebody with one lane's key may try. README.md of `contracts` lists the same.

use alloy::{
    primitives::{Address, B256, U256},
    signers::{SignerSync, local::PrivateKeySigner},
    sol_types::SolCall,
};

use super::{
    encoding::{
        Entry, Exec, NO_TOKEN, ProxyFactory, SENTINEL, Safe, multi_send, multiSendCall, pack, transferCall, words,
    },
    setting::{ETHER, Error, HOSTILE, LANES, STOLEN, STOLEN_KEY, Setting, TARGET, THIEF},
};

/// A transaction to the operator's Safe.
pub struct Attack {
    pub name: &'static str,
    pub sender: Address,
    pub call: Vec<u8>,
    /// Name of the guard's error.
    pub reason: &'static str,
    /// Whether it changes a Safe or takes money where there is no guard.
    pub harms: bool,
}

/// It does no harm to Safes even without the guard.
const VAIN: bool = false;
/// It does, where there is no guard.
const HARMS: bool = true;

/// All attacks.
pub async fn all(setting: &Setting) -> Result<Vec<Attack>, Error> {
    let mut attacks = Vec::new();
    let mut add = |name, call, reason, harms| attacks.push(Attack { name, sender: STOLEN, call, reason, harms });
    on_the_operator(setting, &mut add);
    on_the_encoding(setting, &mut add);
    on_accounts(setting, &mut add);
    on_accounts_by_encoding(setting, &mut add);
    on_the_utility_safe(setting, &mut add);
    attacks.push(relayed(setting).await?);
    Ok(attacks)
}

type Add<'a> = dyn FnMut(&'static str, Vec<u8>, &'static str, bool) + 'a;

/// A batch of the operator's Safe.
fn batch(setting: &Setting, entries: &[Entry]) -> Vec<u8> {
    Exec::delegatecall(STOLEN, setting.multi_send, multi_send(pack(entries))).encode()
}

/// A batch of one call that an account makes.
fn by(setting: &Setting, account: Address, exec: &Exec) -> Vec<u8> {
    batch(setting, &[Entry::new(account, exec.encode())])
}

fn remove_lane() -> Vec<u8> {
    Safe::removeOwnerCall { previous: SENTINEL, owner: LANES[2], threshold: U256::ONE }.abi_encode()
}

/// What makes the thief the only owner of an account.
fn take(setting: &Setting) -> Vec<u8> {
    Safe::swapOwnerCall { previous: SENTINEL, old: setting.operator, new_: THIEF }.abi_encode()
}

fn harmless(setting: &Setting) -> Entry {
    Entry::new(setting.account(), Exec::call(setting.operator, TARGET, Vec::new()).encode())
}

fn on_the_operator(setting: &Setting, add: &mut Add<'_>) {
    let operator = setting.operator;
    let call = |to, data| Exec::call(STOLEN, to, data);
    add("the Safe removes an owner", call(operator, remove_lane()).encode(), "NotABatch", HARMS);
    let no_guard = Safe::setGuardCall { guard: Address::ZERO }.abi_encode();
    add("the Safe drops its guard", call(operator, no_guard.clone()).encode(), "NotABatch", VAIN);
    let pays = Exec { value: ETHER, ..call(THIEF, Vec::new()) };
    add("the Safe pays the thief", pays.encode(), "NotABatch", HARMS);
    add("the Safe calls a third party", call(TARGET, Vec::new()).encode(), "NotABatch", VAIN);
    let good = multi_send(pack(&[harmless(setting)]));
    let foreign = Exec::delegatecall(STOLEN, HOSTILE, good.clone());
    add("the Safe runs foreign code as its own", foreign.encode(), "NotABatch", HARMS);
    add("a batch by call", call(setting.multi_send, good.clone()).encode(), "NotABatch", VAIN);
    let refund = Exec {
        base_gas: 1_000_000,
        gas_price: 1_000_000_000,
        refund_receiver: THIEF,
        ..Exec::delegatecall(STOLEN, setting.multi_send, good.clone())
    };
    add("a refund to the thief", refund.encode(), "NotABatch", HARMS);
    let valued = Exec { value: U256::ONE, ..Exec::delegatecall(STOLEN, setting.multi_send, good) };
    add("a batch with a value", valued.encode(), "NotABatch", VAIN);

    let one = |to, data| batch(setting, &[Entry::new(to, data)]);
    add("a packed call removes an owner", one(operator, remove_lane()), "ForbiddenTarget", HARMS);
    add("a packed call drops the guard", one(operator, no_guard), "ForbiddenTarget", VAIN);
    let module = Safe::enableModuleCall { module: STOLEN }.abi_encode();
    add("a packed call makes the lane a module", one(operator, module), "ForbiddenTarget", HARMS);
    let handler = Safe::setFallbackHandlerCall { handler: setting.handler }.abi_encode();
    add("a packed call sets a handler, so that signatures count", one(operator, handler), "ForbiddenTarget", HARMS);
    let second = batch(setting, &[harmless(setting), Entry::new(operator, remove_lane())]);
    add("a packed call behind a harmless one", second, "ForbiddenTarget", HARMS);
    let pays = Entry { value: ETHER, ..Entry::new(THIEF, Vec::new()) };
    add("a packed call pays the thief", batch(setting, &[pays]), "OperatorPays", HARMS);
    let pays = Entry { value: ETHER, ..harmless(setting) };
    add("an account is paid, to be emptied then", batch(setting, &[pays]), "OperatorPays", HARMS);
    let transfer = transferCall { to: THIEF, amount: U256::ONE }.abi_encode();
    add("a packed call moves the operator's tokens", one(TARGET, transfer), "ForbiddenCall", VAIN);
    let approval = Safe::approveHashCall { hash: B256::repeat_byte(7) }.abi_encode();
    add("a hash is approved for an account", one(setting.account(), approval), "ForbiddenCall", VAIN);
    add("a call of no data", one(setting.account(), Vec::new()), "ForbiddenCall", VAIN);
    add("a call of three bytes", one(setting.account(), vec![0x6a, 0x76, 0x12]), "ForbiddenCall", VAIN);
    let zero = Exec::call(operator, operator, remove_lane()).encode();
    add("a call of zero, the caller in later versions", one(Address::ZERO, zero), "ForbiddenTarget", VAIN);
    let callback = ProxyFactory::createProxyWithCallbackCall {
        singleton: setting.singleton,
        initializer: setting.account_setup().into(),
        saltNonce: U256::from(99),
        callback: TARGET,
    };
    add("another function of the factory", one(setting.factory, callback.abi_encode()), "ForbiddenCall", VAIN);
}

fn on_the_encoding(setting: &Setting, add: &mut Add<'_>) {
    let operator = setting.operator;
    let (good, bad) = (harmless(setting).pack(), Entry::new(operator, remove_lane()).pack());
    let run = |data: Vec<u8>| Exec::delegatecall(STOLEN, setting.multi_send, data).encode();
    let (selector, length) = (multiSendCall::SELECTOR, |bytes: &[u8]| U256::from(bytes.len()));
    // A decoy where calls usually stand, and the real ones where the offset points.
    let offset = U256::from(64 + good.len());
    let odd = words(selector, &[offset, length(&good)], &[&good[..], &length(&bad).to_be_bytes::<32>(), &bad].concat());
    add("an odd offset, with a decoy", run(odd), "NotCanonical", HARMS);
    // The real calls within the decoy, behind its arguments, where an account ignores them.
    let decoy = harmless(setting);
    let within = U256::from(64 + 85 + decoy.data.len());
    let data = [&decoy.data[..], &length(&bad).to_be_bytes::<32>(), &bad].concat();
    let decoy = Entry { length: length(&data), data, ..decoy }.pack();
    let odd = words(selector, &[within, length(&decoy)], &padded(&decoy));
    add("an odd offset, into a harmless call", run(odd), "NotCanonical", HARMS);
    let both = [&good[..], &bad].concat();
    let short = words(selector, &[U256::from(32), length(&good)], &padded(&both));
    add("bytes behind the stated length", run(short), "NotCanonical", VAIN);
    let long = words(selector, &[U256::from(32), length(&good) + U256::from(64)], &padded(&good));
    add("a length beyond the bytes", run(long), "NotCanonical", VAIN);
    let huge = words(selector, &[U256::from(32), U256::MAX], &padded(&good));
    add("a length that overflows", run(huge), "Panic", VAIN);
    let mut other = multi_send(good.clone());
    other[0] ^= 1;
    add("another function of MultiSend", run(other), "NotCanonical", VAIN);
    add("no data", run(Vec::new()), "NotCanonical", VAIN);

    let packed = |entries: &[Entry]| run(multi_send(pack(entries)));
    let lying = Entry { length: U256::from(5), ..harmless(setting) };
    add("a packed length too small", packed(&[lying]), "NotCanonical", VAIN);
    let lying = Entry { length: U256::MAX - U256::from(84), ..harmless(setting) };
    add("a packed length that wraps round to the same call", packed(&[lying]), "Panic", VAIN);
    let lying = Entry { length: length(&harmless(setting).data) + U256::ONE, ..harmless(setting) };
    add("a packed length beyond the batch", packed(&[lying]), "out of bounds", VAIN);
    // Less than a whole entry: MultiSend would read on into memory.
    let torn = run(multi_send([&good[..], &bad[..60]].concat()));
    add("a torn call at the end", torn, "NotCanonical", VAIN);
    let delegate = Entry { operation: 1, ..Entry::new(HOSTILE, Vec::new()) };
    add("a packed delegatecall", packed(&[delegate]), "NotCanonical", VAIN);
    let odd = Entry { operation: 2, ..harmless(setting) };
    add("a packed operation that there is not", packed(&[odd]), "NotCanonical", VAIN);
}

fn on_accounts(setting: &Setting, add: &mut Add<'_>) {
    let (operator, account) = (setting.operator, setting.account());
    let call = |to, data| Exec::call(operator, to, data);
    add("an account swaps its owner", by(setting, account, &call(account, take(setting))), "ForbiddenTarget", HARMS);
    let module = Safe::enableModuleCall { module: THIEF }.abi_encode();
    add("an account enables a module", by(setting, account, &call(account, module)), "ForbiddenTarget", HARMS);
    let handler = Safe::setFallbackHandlerCall { handler: THIEF }.abi_encode();
    add("an account sets its handler", by(setting, account, &call(account, handler)), "ForbiddenTarget", HARMS);
    let guard = Safe::addOwnerWithThresholdCall { owner: THIEF, threshold: U256::ONE }.abi_encode();
    add("an account adds an owner", by(setting, account, &call(account, guard)), "ForbiddenTarget", HARMS);
    let nested = |entries: &[Entry]| Exec::delegatecall(operator, setting.multi_send, multi_send(pack(entries)));
    let inner = Entry::new(account, take(setting));
    add(
        "the same in a batch of the account's",
        by(setting, account, &nested(std::slice::from_ref(&inner))),
        "ForbiddenTarget",
        HARMS,
    );
    let second = nested(&[Entry::new(TARGET, Vec::new()), inner.clone()]);
    add("the same behind a harmless call", by(setting, account, &second), "ForbiddenTarget", HARMS);
    let third = batch(setting, &[harmless(setting), harmless(setting), Entry::new(account, second.encode())]);
    add("the same in the third account's batch", third, "ForbiddenTarget", HARMS);
    let foreign = Exec::delegatecall(operator, HOSTILE, multi_send(Entry::new(TARGET, Vec::new()).pack()));
    add("an account runs foreign code as its own", by(setting, account, &foreign), "ForeignDelegatecall", HARMS);
    let to_zero = call(Address::ZERO, Vec::new());
    add("an account calls zero", by(setting, account, &to_zero), "ForbiddenTarget", VAIN);
    let to_zero = nested(&[Entry::new(Address::ZERO, take(setting))]);
    add("an account's batch calls zero", by(setting, account, &to_zero), "ForbiddenTarget", VAIN);
    let back = call(operator, Exec::call(account, operator, remove_lane()).encode());
    add("an account calls the operator's Safe", by(setting, account, &back), "ForbiddenTarget", VAIN);
    let back = nested(&[Entry::new(operator, remove_lane())]);
    add("an account's batch calls the operator's Safe", by(setting, account, &back), "ForbiddenTarget", VAIN);
    let drain =
        Exec { base_gas: 1_000_000, gas_price: 1_000_000_000, refund_receiver: THIEF, ..call(TARGET, Vec::new()) };
    add("an account's refund to the thief", by(setting, account, &drain), "ForbiddenRefund", HARMS);
    let itself = Exec { gas_price: 1, gas_token: account, ..call(TARGET, Vec::new()) };
    add("a refund in the account itself as a token", by(setting, account, &itself), "ForbiddenRefund", VAIN);
}

fn on_accounts_by_encoding(setting: &Setting, add: &mut Add<'_>) {
    let (operator, account) = (setting.operator, setting.account());
    let nested = |packed: Vec<u8>| Exec::delegatecall(operator, setting.multi_send, multi_send(packed));
    let mut edit = |name, exec: &Exec, change: &dyn Fn(&mut Vec<u8>), reason, harms| {
        let mut data = exec.encode();
        change(&mut data);
        add(name, batch(setting, &[Entry::new(account, data)]), reason, harms);
    };
    let word = |index: usize, value: U256| {
        move |data: &mut Vec<u8>| data[4 + 32 * index..36 + 32 * index].copy_from_slice(&value.to_be_bytes::<32>())
    };
    // The account reads its data where the offset points, behind a decoy that stands where it usually is.
    let decoy = nested(Entry::new(TARGET, Vec::new()).pack());
    let real = multi_send(Entry::new(account, take(setting)).pack());
    let behind = |data: &mut Vec<u8>| {
        let offset = U256::from(data.len() - 4);
        data.extend(U256::from(real.len()).to_be_bytes::<32>());
        data.extend(padded(&real));
        word(2, offset)(data);
    };
    edit("data elsewhere, with a decoy", &decoy, &behind, "NotCanonical", HARMS);
    let takes = Exec::call(operator, account, take(setting));
    let dirty = U256::from_be_bytes(account.into_word().0) | (U256::ONE << 200);
    edit("an address with bits above it", &takes, &word(0, dirty), "NotCanonical", HARMS);
    edit("an operation above one", &takes, &word(3, U256::from(256)), "NotCanonical", HARMS);
    let beyond = nested(Entry::new(TARGET, Vec::new()).pack());
    edit("data longer than the call", &beyond, &word(10, U256::from(100_000)), "out of bounds", VAIN);
    edit("a length of data that overflows", &beyond, &word(10, U256::MAX), "Panic", VAIN);
    edit("a call that ends early", &takes, &|data| data.truncate(100), "NotCanonical", VAIN);

    let inner = |packed: Vec<u8>| by(setting, account, &nested(packed));
    let delegate = Entry { operation: 1, ..Entry::new(HOSTILE, Vec::new()) };
    add("a delegatecall in an account's batch", inner(delegate.pack()), "NotCanonical", VAIN);
    let good = Entry::new(TARGET, Vec::new()).pack();
    let bad = Entry::new(account, take(setting)).pack();
    let offset = U256::from(64 + good.len());
    let length = |bytes: &[u8]| U256::from(bytes.len());
    let tail = [&good[..], &length(&bad).to_be_bytes::<32>(), &bad].concat();
    let odd = words(multiSendCall::SELECTOR, &[offset, length(&good)], &tail);
    let odd = Exec::delegatecall(operator, setting.multi_send, odd);
    add("an odd offset in an account's batch", by(setting, account, &odd), "NotCanonical", HARMS);
    let torn = [&good[..], &bad[..60]].concat();
    add("a torn call in an account's batch", inner(torn), "NotCanonical", VAIN);
}

fn on_the_utility_safe(setting: &Setting, add: &mut Add<'_>) {
    let (operator, utility) = (setting.operator, setting.utility);
    let nested = |entries: &[Entry]| Exec::delegatecall(operator, setting.multi_send, multi_send(pack(entries)));
    let takes = Exec::call(operator, utility, take(setting));
    add("the utility Safe swaps its owner", by(setting, utility, &takes), "ForbiddenTarget", HARMS);
    let takes = nested(&[Entry::new(utility, take(setting))]);
    add("the same in its batch", by(setting, utility, &takes), "ForbiddenTarget", HARMS);
    let calls = Exec::call(operator, TARGET, Vec::new());
    add("the utility Safe calls anything", by(setting, utility, &calls), "ForbiddenCall", VAIN);
    let calls = nested(&[Entry::new(TARGET, vec![1, 2, 3, 4])]);
    add("the same in its batch, with another function", by(setting, utility, &calls), "ForbiddenCall", VAIN);
    let foreign = Exec::delegatecall(operator, HOSTILE, Vec::new());
    add("the utility Safe runs foreign code", by(setting, utility, &foreign), "ForeignDelegatecall", HARMS);
    let capped = Exec { gas_price: 1, gas_token: NO_TOKEN, ..nested(&[Entry::new(setting.factory, vec![1, 2, 3, 4])]) };
    add("the utility Safe calls the factory's rest", by(setting, utility, &capped), "ForbiddenCall", VAIN);
}

/// The lane's signature of a call that removes an owner, sent by somebody else.
async fn relayed(setting: &Setting) -> Result<Attack, Error> {
    let mut exec = Exec::call(STOLEN, setting.operator, remove_lane());
    let hash = setting.hash(setting.operator, &exec).await?;
    exec.signatures = PrivateKeySigner::from_bytes(&STOLEN_KEY)?.sign_hash_sync(&hash)?.as_bytes().to_vec();
    let name = "the lane's signature, sent by somebody else";
    Ok(Attack { name, sender: THIEF, call: exec.encode(), reason: "NotABatch", harms: HARMS })
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(32), 0);
    padded
}
