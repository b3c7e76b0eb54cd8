import Foundation
import HealthModel

/// Workout names that Health Auto Export sends from iPhones in languages other than English.
enum LocalisedActivities {
  /// The names of each activity, keyed by the end of Apple's identifier, in German, Spanish, French, Italian,
  /// Portuguese, Dutch, Swedish, Japanese, Korean and Chinese, as far as public exports show them.
  private static let names: [String: [String]] = [
    "Walking": [
      "Gehen", "Spaziergang", "Spazieren", "Caminar", "Caminata", "Andar", "Marche", "Marcher", "Camminata",
      "Caminhada",
      "Wandelen", "Promenad", "Gång", "ウォーキング", "걷기", "步行", "走路",
    ],
    "Running": [
      "Laufen", "Correr", "Carrera", "Course", "Course à pied", "Corsa", "Corrida", "Hardlopen", "Löpning", "ランニング",
      "달리기", "跑步",
    ],
    "Cycling": [
      "Radfahren", "Ciclismo", "Bicicleta", "Vélo", "Cyclisme", "Fietsen", "Cykling", "サイクリング", "자전거 타기",
      "사이클링", "骑自行车", "騎單車", "單車", "骑行",
    ],
    "Swimming": [
      "Schwimmen", "Beckenschwimmen", "Freiwasserschwimmen", "Natación", "Natation", "Nuoto", "Natação", "Zwemmen",
      "Simning", "水泳", "スイミング", "수영", "游泳",
    ],
    "Hiking": [
      "Wandern", "Senderismo", "Excursionismo", "Randonnée", "Escursionismo", "Trilha", "Hiken", "Bergwandelen",
      "Vandring",
      "ハイキング", "하이킹", "등산", "徒步", "健行", "远足", "遠足",
    ],
    "Yoga": ["ヨガ", "요가", "瑜伽", "瑜珈"],
    "Pilates": ["ピラティス", "필라테스", "普拉提", "皮拉提斯"],
    "FunctionalStrengthTraining": [
      "Funktionales Krafttraining", "Entrenamiento de fuerza funcional", "Entrenamiento funcional de fuerza",
      "Renforcement musculaire fonctionnel", "Musculation fonctionnelle", "Allenamento funzionale", "Forza funzionale",
      "Allenamento di forza funzionale", "Treino de força funcional", "Treinamento de força funcional",
      "Functionele krachttraining", "Funktionell styrketräning", "機能的筋力トレーニング", "ファンクショナルストレングストレーニング", "기능성 근력 강화 운동",
      "기능적 근력 강화 운동", "功能性力量训练", "功能性肌力訓練",
    ],
    "TraditionalStrengthTraining": [
      "Traditionelles Krafttraining", "Klassisches Krafttraining", "Krafttraining",
      "Entrenamiento de fuerza tradicional",
      "Entrenamiento de fuerza", "Musculation traditionnelle", "Renforcement musculaire traditionnel", "Musculation",
      "Allenamento di forza tradizionale", "Forza tradizionale", "Treino de força tradicional",
      "Treinamento de força tradicional", "Traditionele krachttraining", "Krachttraining", "Traditionell styrketräning",
      "Styrketräning", "伝統的筋力トレーニング", "従来の筋力トレーニング", "전통적 근력 강화 운동", "근력 강화 운동", "传统力量训练", "傳統肌力訓練",
    ],
    "CoreTraining": [
      "Core-Training", "Rumpftraining", "Entrenamiento de core", "Entrenamiento del core", "Renforcement du tronc",
      "Gainage", "Allenamento core", "Allenamento del core", "Treino de core", "Coretraining", "Core träning",
      "Bålträning", "体幹トレーニング", "コアトレーニング", "코어 강화 운동", "코어 운동", "核心训练", "核心訓練",
    ],
    "HighIntensityIntervalTraining": [
      "Hochintensives Intervalltraining", "HIIT", "Intervalltraining",
      "Entrenamiento por intervalos de alta intensidad",
      "Intervalos de alta intensidad", "Entraînement fractionné de haute intensité", "Fractionné de haute intensité",
      "Allenamento a intervalli ad alta intensità", "Treino intervalado de alta intensidade",
      "Intervaltraining met hoge intensiteit", "Högintensiv intervallträning", "高強度インターバルトレーニング", "고강도 인터벌 트레이닝",
      "高强度间歇训练",
      "高強度間歇訓練",
    ],
    "Elliptical": [
      "Ellipsentrainer", "Crosstrainer", "Elíptica", "Vélo elliptique", "Elliptique", "Ellittica", "Elíptico",
      "Crosstrainermaskin", "エリプティカル", "일립티컬", "椭圆机", "橢圓機",
    ],
    "Rowing": [
      "Rudern", "Rudergerät", "Remo", "Aviron", "Rameur", "Canottaggio", "Vogatore", "Roeien", "Rodd", "ローイング", "로잉",
      "划船",
    ],
    "StairClimbing": [
      "Treppensteigen", "Stepper", "Subir escaleras", "Montée d’escaliers", "Montée d'escaliers", "Salire le scale",
      "Subir escadas", "Traplopen", "Trappgång", "階段上り", "계단 오르기", "爬楼梯", "爬樓梯",
    ],
    "Cooldown": [
      "Abkühlen", "Enfriamiento", "Récupération", "Defaticamento", "Desaquecimento", "クールダウン", "쿨다운", "整理运动",
    ],
    "MindAndBody": ["Geist & Körper", "Körper & Geist", "Cuerpo y mente", "Corps et esprit", "Corpo e mente"],
    "Dance": ["Tanzen", "Baile", "Danse", "Ballo", "Danza", "Dança", "Dansen", "Dans", "ダンス", "댄스", "舞蹈"],
    "Tennis": ["Tenis", "Ténis", "Tênis", "テニス", "테니스", "网球", "網球"],
    "Soccer": ["Fußball", "Fútbol", "Football", "Calcio", "Futebol", "Voetbal", "Fotboll", "サッカー", "축구", "足球"],
    "Golf": ["ゴルフ", "골프", "高尔夫", "高爾夫"],
    "Climbing": ["Klettern", "Escalada", "Escalade", "Arrampicata", "Klimmen", "Klättring", "クライミング", "클라이밍", "攀岩"],
    "JumpRope": [
      "Seilspringen", "Saltar la cuerda", "Corde à sauter", "Salto della corda", "Pular corda", "縄跳び", "줄넘기", "跳绳",
    ],
    "DownhillSkiing": ["Ski Alpin", "Abfahrtski", "Esquí alpino", "Ski alpin", "Sci alpino", "Esqui alpino"],
    "Other": [
      "Andere", "Sonstiges", "Otro", "Otros", "Autre", "Autres", "Altro", "Outro", "Outros", "Overige", "Anders",
      "Övrigt", "Annat", "その他", "기타", "其他",
    ],
  ]

  private static let types: [String: WorkoutActivityType] = {
    var types: [String: WorkoutActivityType] = [:]
    for (name, words) in names {
      let type = WorkoutActivityType(exported: "HKWorkoutActivityType" + name)
      for word in words { types[folded(word)] = type }
    }
    return types
  }()

  /// Words for a workout's location and their connecting words, which say nothing about the activity.
  private static let places: Set = [
    "outdoor", "indoor", "draussen", "drinnen", "freien", "im", "aire", "libre", "al", "exterior", "interior",
    "interieur",
    "exterieur", "en", "l", "all", "aperto", "coperto", "ao", "ar", "livre", "buiten", "binnen", "utomhus",
    "inomhus", "屋外", "室内", "室外", "户外", "戶外", "실외", "실내",
  ]

  /// Returns the activity with a localised name, or `nil` if the name is unknown.
  static func type(_ name: String) -> WorkoutActivityType? {
    guard name.utf8.count <= 200 else { return nil }
    let text = folded(name)
    if let type = types[text] { return type }
    // `Laufen (outdoor)`, `Outdoor-Gehen`, `屋外ウォーキング`.
    let words = text.split { !$0.isLetter }.map(String.init).filter { !places.contains($0) }
    if let type = types[words.joined(separator: " ")] { return type }
    for place in places where place.unicodeScalars.contains(where: { $0.value > 0x2E80 }) && text.hasPrefix(place) {
      if let type = types[String(text.dropFirst(place.count)).trimmingCharacters(in: .whitespaces)] { return type }
    }
    return nil
  }

  /// Returns the text without differences of case, diacritics and character width.
  private static func folded(_ text: String) -> String {
    text.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: Locale(identifier: "en")
    )
    .replacing("ß", with: "ss").trimmingCharacters(in: .whitespaces)
  }
}
