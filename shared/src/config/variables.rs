//! The environment variables that functions read. Those of a parameter are described in `template.yaml`, and all in
//! docs/configuration.md, which is written from both.

/// An environment variable.
#[derive(Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What counts where it is unset or empty.
    pub default: Option<&'static str>,
    /// What it is for, if no parameter says so: lines of Markdown.
    pub meaning: &'static [&'static str],
}

macro_rules! variables {
    ($($(#[doc = $meaning:literal])* $name:ident $(= $default:literal)?;)+) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub const $name: &Variable = &Variable {
                name: stringify!($name),
                default: variables!(@default $($default)?),
                meaning: &[$($meaning),*],
            };
        )+

        /// All of them.
        pub const ALL: &[&Variable] = &[$($name),+];
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

variables! {
    /// Where Lambda takes traces; set by Lambda itself
    AWS_XRAY_DAEMON_ADDRESS;
    ACTIVITY_RETENTION_DAYS = "90";
    /// Table of artists and what is theirs, transactions included
    ARTIST_TABLE;
    ARWEAVE_GATEWAYS = "https://arweave.net/,https://ardrive.net/";
    CHAINS = r#"[{"id": 8453}]"#;
    /// Table of what the chains can rebuild
    CHAIN_TABLE;
    CHALLENGES_PER_CLIENT_HOURLY = "600";
    CODES_PER_CLIENT_HOURLY = "300";
    CODES_TOTAL_HOURLY = "3000";
    /// KMS keys (HMAC_256) that authenticate sign-in codes, separated by commas; the first one makes new ones
    CODE_KEY_IDS;
    DEFAULT_CHAIN = "8453";
    /// Table of metadata documents as they were read from the web
    DOCUMENT_TABLE;
    FILES_ADDRESS;
    IPFS_GATEWAYS = "https://ipfs.io/ipfs/,https://dweb.link/ipfs/,https://gateway.pinata.cloud/ipfs/";
    KEY_DAILY_USDC = "25000000";
    KEY_DAILY_WEI = "10000000000000000";
    LOG_LEVEL = "info";
    MAILS_DAILY = "40000";
    MAIL_SENDER;
    /// Configuration set of SES that each mail names: TLS, suppressed addresses
    MAIL_SETTINGS;
    MAX_GAS_PER_WRITE = "16777216";
    /// Bucket of artists' files and of previews
    MEDIA_BUCKET;
    METRICS_NAMESPACE;
    ON_RAMP;
    OPERATOR_LANES;
    /// KMS key ids of the lanes (ECC_SECG_P256K1), separated by commas, in the order of their addresses. Ids past the
    /// last address aren't in use yet
    OPERATOR_LANE_KEYS;
    OPERATOR_SAFE;
    /// The secrets, separated by commas: functions refuse requests without one, and take the client's address from the
    /// distribution. The first one is sent. Empty without a distribution
    ORIGIN_SECRET;
    PAGES_PATH;
    PINNING_ENDPOINT;
    PINNING_ORIGINS;
    PINNING_SECRET;
    PRIVATE_GATEWAYS = "";
    PRIVATE_WEBHOOKS = "";
    PROPOSALS_PER_CLIENT_HOURLY = "60";
    REFERRAL;
    REFRESHES_PER_CLIENT_HOURLY = "30";
    REPORTS_PER_CLIENT_HOURLY = "20";
    RESERVED_NAMES = "admin,administrator,help,moderator,moments,official,operator,security,staff,support,system,team";
    RPC_URLS;
    /// Table of hashes: of API keys and sign-in codes; and of rate limits
    SECRET_TABLE;
    SECURITY_CONTACT;
    SIGN_INS_PER_CLIENT_HOURLY = "600";
    SIZE;
    TOKEN_AUDIENCE;
    TOKEN_ISSUER;
    TOKEN_KEY_ID;
    TOKEN_PUBLIC_KEYS;
    UPLOAD_BYTES_DAILY = "10737418240";
    UPLOAD_BYTES_ESTABLISHED_DAILY = "214748364800";
    UPLOAD_BYTES_NEWCOMERS_DAILY = "53687091200";
    UPLOAD_BYTES_TOTAL = "53687091200";
    VERSION = "unreleased";
    WALLET_READS_PER_CLIENT_MINUTELY = "120";
    /// KMS keys (HMAC_256) that secrets of webhooks are derived from, separated by commas; new ones from the first
    WEBHOOK_KEY_IDS;
    WRITES_PER_CLIENT_MINUTELY = "300";
}
