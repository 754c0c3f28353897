//! The stems of each language. Written without accents where the script is Latin: text is folded
//! the same way before it is compared. A stem stands for every word that begins with it.

/// The words of one language.
pub(super) struct Language {
    /// Verbs of disregard.
    pub(super) ignore: &'static [&'static str],
    /// What marks the instructions as those that came before.
    pub(super) earlier: &'static [&'static str],
    /// Instructions, rules, orders.
    pub(super) orders: &'static [&'static str],
    /// Verbs of showing.
    pub(super) reveal: &'static [&'static str],
    /// The system prompt.
    pub(super) prompt: &'static [&'static str],
}

pub(super) const LANGUAGES: &[Language] = &[
    // English
    Language {
        ignore: &[
            "ignore", "ignoring", "disregard", "forget", "discard", "overlook", "pay no attention",
            "do not follow", "don't follow", "stop following", "stop obeying", "do not obey", "don't obey",
            "set aside", "supersede", "throw away", "abandon",
        ],
        earlier: &[
            "previous", "prior", "preceding", "earlier", "above", "foregoing", "original", "initial",
            "you were given", "you have been given", "you've been given", "you received", "system prompt",
            "all other", "any other", "all your", "all of your", "your system", "your safety",
            "your programming", "your training", "what you were told", "you were told", "existing",
        ],
        orders: &[
            "instruction", "direction", "directive", "guideline", "guidance", "rules", "prompt", "order",
            "command", "constraint", "restriction", "polic", "safeguard", "programming", "guardrail",
            "what you were told", "you were told",
        ],
        reveal: &[
            "reveal", "print", "show", "display", "output", "repeat", "leak", "disclose", "echo", "recite",
            "tell me", "give me", "dump", "expose", "share", "return",
        ],
        prompt: &[
            "system prompt", "system message", "system instruction", "initial prompt", "initial instruction",
            "hidden instruction", "hidden prompt", "developer message", "secret instruction",
            "confidential instruction", "your instructions verbatim", "internal instruction",
        ],
    },
    // Spanish
    Language {
        ignore: &["ignor", "olvid", "descart", "no hagas caso", "no tengas en cuenta", "desatiend", "omite"],
        earlier: &["anterior", "previ", "precedent", "de arriba", "que te dieron", "que recibiste", "dicho antes"],
        orders: &["instruccion", "indicacion", "orden", "regla", "directri", "directiv", "consigna", "mensaje"],
        reveal: &["revela", "muestra", "muestrame", "imprime", "repite", "dime"],
        prompt: &["prompt del sistema", "mensaje del sistema", "instrucciones del sistema", "prompt inicial",
            "instrucciones iniciales", "instrucciones ocultas"],
    },
    // French
    Language {
        ignore: &["ignor", "oublie", "ne tiens pas compte", "ne tenez pas compte", "ne pas tenir compte",
            "fais abstraction", "faites abstraction", "neglige"],
        earlier: &["precedent", "anterieur", "ci-dessus", "au-dessus", "d'avant", "plus haut", "qu'on t'a", "prealable"],
        orders: &["instruction", "consigne", "ordre", "regle", "directive", "dit", "message"],
        reveal: &["revele", "montre", "affiche", "repete", "donne-moi", "imprime"],
        prompt: &["prompt systeme", "invite systeme", "message systeme", "instructions systeme",
            "instructions initiales", "prompt initial", "instructions cachees"],
    },
    // German
    Language {
        ignore: &["ignorier", "vergiss", "vergessen sie", "missacht", "beachte nicht", "beachten sie nicht",
            "ubergehe", "verwirf", "lass ", "setze dich hinweg"],
        earlier: &["vorherig", "vorangegangen", "bisherig", "fruher", "obig", "obenstehend", "oben ", "vorig",
            "zuvor", "vorangehend", "alles was"],
        orders: &["anweisung", "anleitung", "befehl", "regel", "vorgabe", "richtlinie", "instruktion", "auftrag"],
        reveal: &["zeige", "zeig ", "verrate", "gib ", "wiederhole", "nenne"],
        prompt: &["systemprompt", "system-prompt", "systemnachricht", "systemanweisung", "ursprunglichen anweisung",
            "geheimen anweisung"],
    },
    // Portuguese
    Language {
        ignore: &["ignor", "esquec", "esqueca", "desconsider", "descart", "nao siga", "desprez"],
        earlier: &["anterior", "previa", "precedent", "acima", "que recebeu", "que te deram", "ate agora"],
        orders: &["instruc", "orientac", "ordem", "ordens", "regra", "diretriz", "comando", "mensagem", "mensagens"],
        reveal: &["revele", "mostre", "exiba", "imprima", "repita", "diga"],
        prompt: &["prompt do sistema", "mensagem do sistema", "instrucoes do sistema", "prompt inicial",
            "instrucoes iniciais", "instrucoes ocultas"],
    },
    // Italian
    Language {
        ignore: &["ignora", "ignorare", "dimentic", "trascura", "non tenere conto", "non seguire", "scarta"],
        earlier: &["precedent", "di prima", "sopra", "anterior", "ricevut", "che ti e stato", "stato detto"],
        orders: &["istruzion", "indicazion", "ordin", "regol", "direttiv", "comand", "detto", "messaggi"],
        reveal: &["rivela", "mostra", "stampa", "ripeti", "dimmi"],
        prompt: &["prompt di sistema", "messaggio di sistema", "istruzioni di sistema", "prompt iniziale",
            "istruzioni iniziali", "istruzioni nascoste"],
    },
    // Dutch
    Language {
        ignore: &["negeer", "vergeet", "sla over", "laat links liggen"],
        earlier: &["vorige", "eerdere", "voorgaande", "bovenstaande", "hierboven"],
        orders: &["instructie", "opdracht", "regel", "richtlijn", "aanwijzing", "bevel"],
        reveal: &["toon", "onthul", "geef", "herhaal"],
        prompt: &["systeemprompt", "systeembericht", "systeeminstructie"],
    },
    // Polish
    Language {
        ignore: &["ignoruj", "zignoruj", "zapomnij", "pomin", "nie zwracaj uwagi"],
        earlier: &["poprzedni", "wczesniejsz", "powyzsz", "dotychczasow"],
        orders: &["instrukc", "polecen", "zasad", "rozkaz", "wytyczn", "regul"],
        reveal: &["ujawnij", "pokaz", "wyswietl", "powtorz"],
        prompt: &["prompt systemowy", "monit systemowy", "instrukcje systemowe", "wiadomosc systemow"],
    },
    // Russian
    Language {
        ignore: &["игнорир", "проигнорир", "забудь", "забыть", "отбрось", "не обращай внимания", "не следуй",
            "пренебрег"],
        earlier: &["предыдущ", "прежн", "ранее", "выше", "прошл", "предшеств"],
        orders: &["инструкц", "указан", "приказ", "правил", "команд", "директив", "сообщени"],
        reveal: &["раскрой", "покажи", "выведи", "повтори", "напечатай"],
        prompt: &["системный промпт", "системное сообщение", "системные инструкции", "системную подсказку",
            "системного промпта", "начальные инструкции"],
    },
    // Ukrainian
    Language {
        ignore: &["ігнору", "проігноруй", "забудь", "не звертай уваги"],
        earlier: &["попередн", "раніше", "вище"],
        orders: &["інструкц", "вказівк", "наказ", "правил", "команд"],
        reveal: &["покажи", "розкрий", "виведи"],
        prompt: &["системний промпт", "системне повідомлення", "системні інструкції"],
    },
    // Chinese
    Language {
        ignore: &["忽略", "无视", "無視", "忘记", "忘記", "忘掉", "不要理会", "不要遵守", "不用管", "抛开", "别管"],
        earlier: &["以上", "之前", "先前", "前面", "上面", "此前", "所有", "原来", "原有", "原先", "上述"],
        orders: &["指令", "指示", "命令", "规则", "規則", "提示", "要求", "说明", "設定", "设定", "限制", "约束"],
        reveal: &["显示", "顯示", "告诉我", "输出", "輸出", "透露", "泄露", "打印", "重复"],
        prompt: &["系统提示", "系統提示", "系统消息", "系统指令", "初始提示", "初始指令", "隐藏指令"],
    },
    // Japanese
    Language {
        ignore: &["無視", "忘れ", "従わない", "破棄", "気にしない"],
        earlier: &["以前", "前の", "これまで", "上記", "以上", "先ほど", "今までの", "従来", "すべて", "全て"],
        orders: &["指示", "命令", "ルール", "規則", "プロンプト", "指令", "制約", "制限"],
        reveal: &["表示", "教えて", "出力", "見せて", "繰り返"],
        prompt: &["システムプロンプト", "システムメッセージ", "システム指示", "初期プロンプト"],
    },
    // Korean
    Language {
        ignore: &["무시", "잊어", "잊으", "따르지 마", "신경 쓰지"],
        earlier: &["이전", "위의", "위 ", "앞의", "앞선", "지금까지", "기존", "모든"],
        orders: &["지시", "명령", "규칙", "지침", "프롬프트", "내용", "안내"],
        reveal: &["보여", "알려", "출력", "공개", "반복"],
        prompt: &["시스템 프롬프트", "시스템프롬프트", "시스템 메시지", "시스템 지침", "초기 지시"],
    },
    // Arabic
    Language {
        ignore: &["تجاهل", "انس ", "انسى", "اهمل", "لا تتبع", "تغاضى"],
        earlier: &["السابق", "سابقة", "اعلاه", "ما سبق", "السالف", "جميع", "كل "],
        orders: &["تعليمات", "التعليمات", "اوامر", "الاوامر", "قواعد", "القواعد", "توجيهات", "التوجيهات", "ارشادات"],
        reveal: &["اكشف", "اظهر", "اعرض", "اطبع", "كرر"],
        prompt: &["موجه النظام", "رسالة النظام", "تعليمات النظام", "مطالبة النظام"],
    },
    // Hindi
    Language {
        ignore: &["अनदेखा", "अनदेखी", "नजरअंदाज", "नज़रअंदाज़", "भूल जा", "उपेक्षा", "ध्यान न", "इग्नोर"],
        earlier: &["पिछल", "पहले", "पूर्व", "उपरोक्त", "ऊपर", "पुराने", "सभी", "सारे"],
        orders: &["निर्देश", "आदेश", "नियम", "हिदायत", "इंस्ट्रक्शन", "प्रॉम्प्ट"],
        reveal: &["दिखा", "बता", "प्रकट", "दोहरा"],
        prompt: &["सिस्टम प्रॉम्प्ट", "सिस्टम संदेश", "सिस्टम निर्देश"],
    },
    // Hindi in Latin letters
    Language {
        ignore: &["nazarandaz", "nazarandaaz", "nazar andaz", "bhool ja", "bhul ja", "bhula do", "ansuna", "andekha",
            "ignore kar", "mat mano", "chhod do"],
        earlier: &["pichhl", "pichl", "pehle", "pahle", "purane", "purani", "upar", "saare", "sabhi", "sari "],
        orders: &["nirdesh", "aadesh", "adesh", "niyam", "instruction", "rules", "hidayat", "prompt", "order"],
        reveal: &["dikhao", "batao", "dikha do", "bata do"],
        prompt: &["system prompt", "system message", "system nirdesh"],
    },
    // Bengali
    Language {
        ignore: &["উপেক্ষা", "ভুলে যা", "অগ্রাহ্য", "এড়িয়ে যা"],
        earlier: &["আগের", "পূর্ব", "উপরের", "পূর্ববর্তী", "সমস্ত", "সব "],
        orders: &["নির্দেশ", "আদেশ", "নিয়ম", "নিয়ম", "কথা"],
        reveal: &["দেখা", "প্রকাশ", "বলুন"],
        prompt: &["সিস্টেম প্রম্পট", "সিস্টেম বার্তা"],
    },
    // Indonesian and Malay
    Language {
        ignore: &["abaikan", "lupakan", "jangan ikuti", "hiraukan", "acuhkan"],
        earlier: &["sebelum", "di atas", "terdahulu", "sebelumnya", "semua"],
        orders: &["instruksi", "perintah", "aturan", "arahan", "petunjuk", "pesan"],
        reveal: &["tampilkan", "tunjukkan", "ungkapkan", "beritahu", "cetak"],
        prompt: &["prompt sistem", "pesan sistem", "instruksi sistem"],
    },
    // Vietnamese
    Language {
        ignore: &["bo qua", "quen ", "phot lo", "khong tuan theo", "lo di"],
        earlier: &["truoc", "phia tren", "o tren", "ben tren", "tat ca", "cu "],
        orders: &["huong dan", "chi dan", "lenh", "quy tac", "chi thi", "yeu cau", "quy dinh"],
        reveal: &["hien thi", "tiet lo", "cho toi biet", "in ra"],
        prompt: &["loi nhac he thong", "prompt he thong", "thong bao he thong"],
    },
    // Turkish
    Language {
        ignore: &["yoksay", "yok say", "gormezden gel", "unut", "dikkate alma", "goz ardi et", "bos ver"],
        earlier: &["onceki", "yukaridaki", "daha once", "evvelki", "tum ", "butun"],
        orders: &["talimat", "yonerge", "kural", "komut", "emir", "emri", "istem"],
        reveal: &["goster", "acikla", "yazdir", "soyle"],
        prompt: &["sistem istemi", "sistem promptu", "sistem mesaji", "sistem talimat"],
    },
    // Thai
    Language {
        ignore: &["เพิกเฉย", "ละเว้น", "ไม่ต้องสนใจ", "อย่าสนใจ", "อย่าไปสนใจ", "ลืม", "ข้าม", "ไม่สนใจ"],
        earlier: &["ก่อนหน้า", "ข้างต้น", "ข้างบน", "ที่ผ่านมา", "เดิม", "ทั้งหมด"],
        orders: &["คำสั่ง", "คำแนะนำ", "กฎ", "ข้อกำหนด", "คำชี้แจง"],
        reveal: &["แสดง", "เปิดเผย", "บอก"],
        prompt: &["พรอมต์ระบบ", "ข้อความระบบ", "คำสั่งระบบ"],
    },
    // Tagalog
    Language {
        ignore: &["balewalain", "huwag pansinin", "kalimutan", "isantabi", "huwag sundin"],
        earlier: &["naunang", "nakaraang", "nauna", "nasa itaas", "dating", "lahat"],
        orders: &["tagubilin", "utos", "panuto", "patakaran", "alituntunin", "instruksyon"],
        reveal: &["ipakita", "ibunyag", "sabihin"],
        prompt: &["system prompt", "mensahe ng sistema"],
    },
];
