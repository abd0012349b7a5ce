//! Texts of the demo's comments.

/// Made when collecting "First Light", one per collector.
pub(super) const MINT_COMMENTS: [&str; 5] = [
    "Had to have this one. Congratulations!",
    "gm ☀️",
    "Collected before my first coffee, no regrets.",
    "Qué luz tan bonita.",
    "For the wall above my desk.",
];

/// Made when collecting the second moment of "First Light".
pub(super) const USDC_MINT_COMMENT: &str = "Worth every cent.";

/// Made on "First Light" afterwards, by the collectors in turn.
pub(super) const COMMENTS: [&str; 40] = [
    "I keep coming back to the edge of that cloud.",
    "This is what five in the morning feels like.",
    "おはよう。すばらしい一枚です。",
    "The blue in the lower third is unreal.",
    "Reminds me of the ferry home from Naxos.",
    "Printed it small and it still fills the room.",
    "Which film is this? The grain is gorgeous.",
    "Simple and brave.",
    "My daughter says the cloud is a whale 🐋",
    "So calm. Thank you for sharing it.",
    "Wie schön! Das Licht ist wie gemalt.",
    "Is there going to be an evening one too?",
    "Does anyone know where this was taken?",
    "Love the silence in this picture.",
    "Finally something for my mornings ☕",
    "I've walked past this spot a hundred times and never saw it like that.",
    "That tiny boat though!",
    "The longer you look, the more there is.",
    "Please never crop this.",
    "🔥🔥🔥",
    "I showed it to my mother and now she wants to know what a wallet is.",
    "The horizon sits exactly where it should.",
    "Une vraie respiration.",
    "Felt this one in my chest.",
    "I'd pay for the sound of that morning too.",
    "My very first collect, and I'm so glad it's this one 🎉",
    "Proof that getting up early is worth it.",
    "The colours change with my screen's night mode and it works both ways.",
    "Muito obrigado por isso 🙏",
    "Quietly one of the best things I saw this week.",
    "How long did you wait for that light?",
    "It looks like the sea is holding its breath.",
    "Now I want to learn how to sail.",
    "Subtle, warm, a bit sad. Perfect.",
    "You can almost smell the salt.",
    "Set as wallpaper, collected, told my friends.",
    "This made a grey Tuesday better.",
    "Beautiful work, as always.",
    "Здорово! Хочется туда.",
    "See you all at sunrise 🌅",
];

/// Index in [`COMMENTS`] of the question about the location.
pub(super) const LOCATION_QUESTION: usize = 12;
pub(super) const LOCATION_REPLIES: [&str; 7] = [
    "Looks like the north pier to me.",
    "Pretty sure that's not the pier, the rail is wrong.",
    "The lighthouse on the left could be Tourlitis?",
    "Definitely somewhere with mild winters 😄",
    "The artist said on a podcast that it's near home.",
    "Half the beauty is not knowing.",
    "Ok, I asked: it is the old harbour, just before six.",
];

/// Index in [`COMMENTS`] of a new collector's comment.
pub(super) const FIRST_COLLECT: usize = 25;
pub(super) const FIRST_COLLECT_REPLIES: [&str; 2] = ["Welcome! 🥳", "What a start. Mine was a blurry frog."];
