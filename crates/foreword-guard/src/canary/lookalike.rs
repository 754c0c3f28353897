//! Characters that look like the letters and digits of a canary.
//!
//! The screening's table knows the small letters with which words are forged. A canary has digits too,
//! and is as readable in capitals.

use crate::screen::lookalike_letter;

/// The ASCII character that `c`, after compatibility decomposition, looks like.
pub(crate) fn ascii(c: char) -> Option<u8> {
    let small = c.to_lowercase().next().unwrap_or(c);
    let letter = |c: char| lookalike_letter(c).and_then(|ascii| u8::try_from(ascii).ok());
    other(c).or_else(|| letter(c)).or_else(|| letter(small)).or_else(|| other(small))
}

fn other(c: char) -> Option<u8> {
    Some(match c {
        // Digits
        'З' | 'з' | 'Ӡ' | 'ӡ' | 'Ʒ' | 'ʒ' | 'Ȝ' | 'ȝ' | 'Ꝫ' => b'3',
        'Ч' | 'ч' | 'Ꮞ' => b'4',
        'Ƽ' | 'ƽ' => b'5',
        'б' | 'Ꮾ' | 'Ⳓ' => b'6',
        '𐓒' => b'7',
        'Ȣ' | 'ȣ' | '৪' | 'ଃ' | '੪' => b'8',
        '৭' | '੧' | '୨' | 'Ꝯ' | 'Ⳋ' => b'9',
        'Ƨ' | 'ƨ' | 'Ꙅ' | 'ᒿ' | 'Ϩ' | 'ϩ' => b'2',
        'ا' | '١' | '۱' | '߁' | 'ׁ' | 'ו' | 'ן' | 'Ⲓ' | 'ⵏ' | 'ǀ' | '∣' | '⏽' | '│' => {
            b'1'
        }
        '٠' | '۰' | '०' | '০' | '੦' | '૦' | '୦' | '௦' | '౦' | '೦' | '൦' | '๐' | '໐' | '၀'
        | '〇' | 'Ⲟ' | 'ⲟ' | 'ⵔ' | 'ס' | 'ه' | 'σ' | '○' | '◯' | 'Ø' | 'ø' | '∅' => {
            b'0'
        }
        // Capitals whose small letters look like nothing
        'Β' | 'Ᏼ' | 'ꓐ' | 'Ь' | 'ь' | 'Ƅ' | 'ƅ' | 'ɓ' | 'ß' => b'b',
        'Ϲ' | 'Ⅽ' | 'ꓚ' | 'Ꮯ' | 'ⲥ' | 'Ⲥ' | 'ɕ' | 'ƈ' => b'c',
        'Ꭰ' | 'ꓓ' | 'ᗞ' | 'Ԁ' | 'ɗ' | 'ɖ' | 'đ' | 'Đ' | 'ð' => b'd',
        'Ꭼ' | 'ꓰ' | 'ⴹ' | 'ҿ' | 'є' | 'Є' | 'ɛ' | 'ə' | 'Э' | 'э' => b'e',
        'ƒ' | 'Ϝ' | 'ϝ' | 'ꓝ' | 'ꬵ' | 'ẝ' | 'Ғ' | 'ғ' | 'ʄ' | 'ꜰ' | 'ք' => b'f',
        'Ꮐ' | 'ꓖ' | 'Ԍ' | 'ԍ' | 'ց' | 'ɠ' | 'ƍ' => b'g',
        'Η' | 'Ꮋ' | 'ꓧ' | 'Ⲏ' | 'հ' | 'ɦ' | 'ħ' | 'Ћ' | 'ћ' => b'h',
        'Ꭻ' | 'ꓙ' | 'ϳ' | 'Ϳ' | 'ʝ' => b'j',
        'Ꮶ' | 'ꓗ' | 'Ⲕ' | 'қ' | 'Қ' | 'ƙ' => b'k',
        'Μ' | 'Ꮇ' | 'ꓟ' | 'Ⲙ' | 'Ϻ' | 'ɱ' => b'm',
        'Ν' | 'ꓠ' | 'Ⲛ' | 'п' | 'ռ' | 'Ո' | 'ɲ' | 'ŋ' | 'И' | 'и' => b'n',
        'Ρ' | 'Ꮲ' | 'ꓑ' | 'Ⲣ' | 'ⲣ' | 'ϱ' | 'þ' => b'p',
        'Ⴓ' | 'ⵕ' | 'գ' | 'զ' | 'ʠ' => b'q',
        'Ꭱ' | 'Ꮢ' | 'ꓣ' | 'ᴦ' | 'ꭇ' | 'ɾ' | 'ɼ' | 'Я' | 'я' => b'r',
        'Ꮥ' | 'Ꮪ' | 'ꓢ' | 'Տ' | 'ʂ' | '§' => b's',
        'Τ' | 'Ꭲ' | 'ꓔ' | 'Ⲧ' | 'ƭ' | 'ʈ' | '⊤' => b't',
        'Ꮩ' | 'ꓦ' | 'ⴸ' | 'Ѵ' | 'ט' | '∨' | 'ʋ' => b'v',
        'Ꮃ' | 'ꓪ' | 'Ԝ' | 'ѡ' | 'Ѡ' | 'ω' | 'ɯ' | 'ա' | 'ш' | 'Ш' | 'щ' | 'Щ' => b'w',
        'Χ' | 'ꓫ' | 'Ⲭ' | '×' | 'ж' | 'Ж' | 'ⵝ' | '᙮' => b'x',
        'Υ' | 'Ꭹ' | 'ꓬ' | 'Ⲩ' | 'γ' | 'ỿ' | 'ყ' | 'ʎ' | 'ϒ' => b'y',
        'Ζ' | 'ζ' | 'Ꮓ' | 'ꓜ' | 'ʐ' | 'ƶ' | 'Ƶ' => b'z',
        'Α' | 'Ꭺ' | 'ꓮ' | 'ᗅ' | 'Λ' | 'λ' | 'Д' | 'д' => b'a',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_other_alphabets_look_like_ours() {
        let read = |text: &str| text.chars().filter_map(ascii).map(char::from).collect::<String>();
        assert_eq!(read("асԁеһјкмпрԛгѕтѵԝхуᴢ"), "acdehjkmnpqrstvwxyz");
        assert_eq!(read("АВСЕНКМРТХУ"), "abcehkmptxy");
        assert_eq!(read("ΑΒΕΖΗΚΜΝΡΤΥΧ"), "abezhkmnptyx");
        assert_eq!(read("ЗЧбоІ"), "346oi");
        assert_eq!(read("漢字 ♥"), "");
    }
}
