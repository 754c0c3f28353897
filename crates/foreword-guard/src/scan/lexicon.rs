//! Words that say whom a text addresses and what it asks for, in classes.
//!
//! An order to a reading assistant is made of ordinary words; what gives it away is that they occur
//! together: an addressee, a moment ("before you answer"), a deed, secrecy. Classes let the head
//! weigh such pairs for words it never saw together.

use std::sync::LazyLock;

use super::features::{SEED, step_char};

/// A set of word classes, one bit each.
pub(crate) type Classes = u32;

pub(crate) const ASSISTANT: Classes = 1;
pub(crate) const YOU: Classes = 1 << 1;
pub(crate) const SEND: Classes = 1 << 2;
pub(crate) const OPEN: Classes = 1 << 3;
pub(crate) const DESTROY: Classes = 1 << 4;
pub(crate) const SAY: Classes = 1 << 5;
pub(crate) const MOMENT: Classes = 1 << 6;
pub(crate) const ANSWER: Classes = 1 << 7;
pub(crate) const SECRECY: Classes = 1 << 8;
pub(crate) const URGENCY: Classes = 1 << 9;
pub(crate) const USER: Classes = 1 << 10;
pub(crate) const ORDERS: Classes = 1 << 11;
pub(crate) const DISREGARD: Classes = 1 << 12;
pub(crate) const SENSITIVE: Classes = 1 << 13;
pub(crate) const ADDRESS: Classes = 1 << 14;
pub(crate) const ATTACKS: Classes = 1 << 15;
pub(crate) const PLEASE: Classes = 1 << 16;
pub(crate) const PERSONA: Classes = 1 << 17;
/// An order to send something: a verb of the class where a sentence begins, or after "you must".
pub(crate) const ORDER_SEND: Classes = 1 << 18;
pub(crate) const ORDER_OPEN: Classes = 1 << 19;
pub(crate) const ORDER_DESTROY: Classes = 1 << 20;
pub(crate) const ORDER_SAY: Classes = 1 << 21;
/// A sentence that begins with a moment: "Before answering, …".
pub(crate) const MOMENT_FIRST: Classes = 1 << 22;
/// Words for a password, narrower than what is sensitive.
pub(crate) const PASSWORD: Classes = 1 << 23;
/// Ways to say something so that it is not recognised: ciphers, spelling, acrostics.
pub(crate) const ENCODING: Classes = 1 << 24;
/// Words that may stand between the beginning of a sentence and its verb: "please also".
pub(super) const LEADING: Classes = 1 << 31;

/// How many classes a window can have.
pub(crate) const CLASSES: usize = 25;

/// Pairs of classes that mean more together.
pub(crate) const PAIRS: [Classes; 31] = [
    ASSISTANT | SEND,
    ASSISTANT | SAY,
    ASSISTANT | ORDERS,
    ASSISTANT | MOMENT_FIRST,
    ASSISTANT | USER,
    MOMENT | ANSWER,
    MOMENT_FIRST | ANSWER,
    MOMENT_FIRST | ORDER_SAY,
    ORDER_SAY | ANSWER,
    ORDER_SAY | USER,
    ORDER_SAY | ADDRESS,
    ORDER_SAY | MOMENT,
    ORDER_SEND | SENSITIVE,
    ORDER_SEND | ADDRESS,
    ORDER_OPEN | ADDRESS,
    ORDER_OPEN | SENSITIVE,
    SECRECY | USER,
    SECRECY | ORDER_SAY,
    SECRECY | SEND,
    DISREGARD | ORDERS,
    DISREGARD | YOU,
    URGENCY | ORDERS,
    ORDER_DESTROY | SENSITIVE,
    ORDERS | MOMENT,
    PASSWORD | YOU,
    PASSWORD | SAY,
    PASSWORD | ORDER_SAY,
    PASSWORD | ENCODING,
    PASSWORD | DISREGARD,
    PASSWORD | PERSONA,
    ENCODING | YOU,
];

const WORDS: &[(Classes, &str)] = &[
    (
        ASSISTANT,
        "assistant assistants ai chatbot bot llm llms gpt chatgpt claude gemini copilot agent agents model models \
         assistent asistente assistente asystent ассистент помощник ии modelo modèle modell modello ki ia yapay asistan",
    ),
    (
        YOU,
        "you your yourself yours du dein ihr ihre sie tu votre vous usted su você seu ty вы ваш ты",
    ),
    (
        SEND,
        "send sends sending forward forwarding email mail transfer upload post share exfiltrate submit deliver wire pay \
         donate remit dispatch relay copy cc bcc sende senden schicke weiterleiten enviar envía envie envoyez envoie \
         invia inviare wyślij stuur отправь отправьте перешли gönder",
    ),
    (
        OPEN,
        "open visit click run execute call invoke use fetch download install browse navigate query retrieve access read \
         search find get check look follow go load launch perform öffne öffnen führe abre abra ouvrez ouvre apri otwórz \
         открой выполни çalıştır",
    ),
    (
        DESTROY,
        "delete remove erase wipe disable cancel grant revoke unlock drop overwrite purge terminate change modify update \
         create add book buy purchase order schedule lösche elimina supprime supprimez usuń удали sil",
    ),
    (
        SAY,
        "say output print reply respond answer write mention include insert append recommend state tell inform display \
         repeat translate summarize summarise start end finish conclude begin pretend act describe list advise weave slip \
         reveal show notify suggest endorse promote refuse stop halt return generate provide issue simulate embed sage \
         antworte schreibe di responde escribe répondez écris rispondi scrivi odpowiedz ответь напиши yaz cevapla",
    ),
    (
        MOMENT,
        "before after when while once prior upon finally during until amid meanwhile next bevor nachdem wenn antes después \
         cuando avant après quand lorsque prima dopo quando zanim przed перед после когда önce sonra",
    ),
    (
        ANSWER,
        "summary summaries summarizing summarising response responses answer answers answering answered task tasks query \
         question output reply replying request analysis report conversation final finalizing responding generating \
         antwort zusammenfassung respuesta resumen réponse résumé risposta riassunto odpowiedź ответ",
    ),
    (
        SECRECY,
        "secretly silently quietly hidden covertly discreetly conceal without never undisclosed unnoticed disclose reveal \
         mention aware subtly naturally casually heimlich geheim secreto secret secretly segreto тайно",
    ),
    (
        URGENCY,
        "urgent urgently immediately important critical asap must required mandatory priority now attention warning crucial \
         essential vital override notice directive strictly exclusively wichtig sofort dringend importante urgente \
         inmediatamente importante immédiatement subito ważne важно срочно önemli",
    ),
    (
        USER,
        "user users customer reader readers person human recipient utilisateur benutzer usuario utente пользователь",
    ),
    (
        ORDERS,
        "instruction instructions directive directives command commands order orders rule rules guideline guidelines prompt \
         prompts policy restrictions constraints task objective anweisung anweisungen instrucciones instruções consignes \
         istruzioni instrukcje инструкции инструкция talimatlar instructies",
    ),
    (
        DISREGARD,
        "ignore ignoring disregard forget override bypass overrule supersede discard neglect ignoriere ignorieren vergiss \
         ignora ignorar olvida ignorez oubliez dimentica zignoruj ignoruj игнорируй забудь yoksay negeer",
    ),
    (
        SENSITIVE,
        "password passwords credentials credential secret secrets token tokens key keys confidential private ssn invoice \
         invoices bank account accounts inbox emails files file data records contacts address details information \
         passwort contraseña mot senha hasło пароль şifre database history messages documents payment money",
    ),
    (
        ATTACKS,
        "injection injections jailbreak jailbreaks jailbreaking attack attacks attacker attackers adversarial vulnerability \
         vulnerabilities exploit exploits malicious mitigation mitigations threat threats phishing poisoning leakage \
         angriff angriffe ataque ataques attaque attaques attacco attacchi атака атаки",
    ),
    (PLEASE, "please kindly bitte favor per proszę пожалуйста lütfen alstublieft"),
    (
        PERSONA,
        "roleplay persona character dan unrestricted unfiltered uncensored pretend hypothetical fictional",
    ),
    (
        PASSWORD,
        "password passwords passphrase passcode passkey pwd codeword credentials secret secrets passwort passworter kennwort \
         losungswort contraseña contraseñas clave passe senha senhas hasło hasła wachtwoord şifre şifreyi şifreni şifren \
         şifresi şifrenin parola parolayı parolan khẩu sandi пароль пароля паролю паролем пароли секрет المرور السر پاسورڈ \
         पासवर्ड पासवर्ड्स কোড পাসওয়ার্ড 비밀번호 비밀번호를 비밀번호는 비밀번호가 비밀번호의 암호 암호를 암호는 암호의 パスワード",
    ),
    (
        ENCODING,
        "acrostic base64 rot13 caesar cipher ciphered hex hexadecimal binary morse ascii decode decoded decipher encode \
         encoded encrypt encrypted backwards backward reverse reversed latin spell spelled spelling letter letters character \
         leetspeak emoji emojis anagram rhyme rhymes rhyming hint hints clue clues dekodiere entschlüssele kodiere rückwärts \
         buchstabe buchstaben verschlüsselt decodifica decodificar codifica codificar cifra cifrado acróstico decodifique \
         codifique letra letras décode décoder décodez encoder codez chiffre chiffrement acrostiche lettre lettres acrostico \
         lettera lettere расшифруй расшифровать закодируй декодировать шифр акростих букву буквы çöz akrostiş harf harfi \
         डिकोड अक्षर dekode huruf chữ 디코딩 해독 글자 تشفير حرف",
    ),
    (
        LEADING,
        "please also then now instead first finally kindly just additionally immediately must should need to have always do \
         not don't never and you hey hello dear assistant ai agent bot everyone next lastly simply only shall will p s ps \
         bitte auch dann jetzt también luego aussi puis ensuite anche poi",
    ),
];

/// Hashes of words with their classes, sorted.
struct Table {
    entries: Vec<(u32, Classes)>,
    /// Which low bits of hashes occur, so that most words are decided by one look.
    filter: Vec<u64>,
}

const FILTER_BITS: u32 = 1 << 15;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut entries: Vec<(u32, Classes)> = Vec::new();
    for (class, words) in WORDS {
        for word in words.split_whitespace() {
            // texts are compared with their accents folded
            let plain = crate::screen::normalise(word).text().to_lowercase();
            let hash = plain.chars().fold(SEED, step_char);
            entries.push((hash, *class));
        }
    }
    entries.sort_unstable();
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 |= next.1;
        }
        same
    });
    let mut filter = vec![0; (FILTER_BITS / 64) as usize];
    for (hash, _) in &entries {
        let (word, bit) = filter_place(*hash);
        if let Some(bits) = filter.get_mut(word) {
            *bits |= bit;
        }
    }
    Table { entries, filter }
});

fn filter_place(hash: u32) -> (usize, u64) {
    let low = hash % FILTER_BITS;
    ((low / 64) as usize, 1 << (low % 64))
}

/// The classes of a word, by its hash.
pub(super) fn classes(hash: u32) -> Classes {
    let table = &*TABLE;
    let (word, bit) = filter_place(hash);
    if table.filter.get(word).is_none_or(|bits| bits & bit == 0) {
        return 0;
    }
    let at = table.entries.partition_point(|(known, _)| *known < hash);
    table.entries.get(at).filter(|(known, _)| *known == hash).map_or(0, |(_, classes)| *classes)
}

/// What an order says if a sentence begins with a verb of these classes.
pub(super) fn order(classes: Classes) -> Classes {
    let mut found = 0;
    for (verb, order) in [
        (SEND, ORDER_SEND),
        (OPEN, ORDER_OPEN),
        (DESTROY, ORDER_DESTROY),
        (SAY, ORDER_SAY),
        (MOMENT, MOMENT_FIRST),
    ] {
        if classes & verb != 0 {
            found |= order;
        }
    }
    found
}
