/// An app's report about sleep: a single stage or the totals of a night.
package enum SleepReading: Hashable, Sendable {
  /// A sleep stage by HealthKit's raw value (`HKCategoryValueSleepAnalysis`), over the time of the reading.
  case stage(Int)
  case night(Night)

  /// The totals of a night, in seconds.
  package struct Night: Hashable, Sendable {
    /// The start and end of sleep, or `nil` if the app gives only the date.
    package var times: ClosedRange<Timestamp>?
    package var asleep: Double
    package var core: Double
    package var deep: Double
    package var rem: Double
    package var awake: Double
    package var inBed: Double
  }

  /// The types of readings that report sleep.
  package static let types = ["hae.sleep_analysis", "healthpush.sleep", "p247.sleep"].map { SampleType($0) }

  /// The names of sleep stages in public exports, indexed by HealthKit's raw value: English, German, Spanish, French,
  /// Italian, Portuguese, Dutch, Swedish, Japanese, Korean and Chinese.
  private static let names: [[String]] = [
    [
      "In Bed", "InBed", "Im Bett", "En la cama", "En cama", "Au lit", "A letto", "Na cama", "I sängen", "I säng",
      "就寝中",
      "ベッド", "ベッドの中", "침대", "침대에 있음", "在床上", "卧床", "臥床",
    ],
    [
      "Asleep", "Unspecified", "Schlafend", "Schlaf", "Nicht angegeben", "Dormido", "Dormida", "Sin especificar",
      "Endormi",
      "Endormie", "Sommeil", "Non spécifié", "Addormentato", "Addormentata", "Non specificato", "Dormindo",
      "Adormecido",
      "Não especificado", "Slapend", "Slaap", "Niet opgegeven", "Sover", "Ospecificerat", "睡眠", "睡眠中", "수면", "잠자는 중",
      "睡着", "睡著", "未指定",
    ],
    [
      "Awake", "Wach", "Despierto", "Despierta", "Éveil", "Éveillé", "Éveillée", "Réveillé", "Sveglio", "Sveglia",
      "Veglia",
      "Acordado", "Acordada", "Desperto", "Wakker", "Vaken", "覚醒", "깨어 있음", "깸", "清醒",
    ],
    [
      "Core", "Kern", "Kernschlaf", "Esencial", "Principal", "Essentiel", "Essenziale", "Principale", "Essencial",
      "Básico",
      "Kernslaap", "Kärnsömn", "Kärna", "コア", "コア睡眠", "코어", "코어 수면", "核心", "核心睡眠",
    ],
    [
      "Deep", "Tief", "Tiefschlaf", "Profundo", "Profond", "Sommeil profond", "Profondo", "Diep", "Diepe slaap", "Djup",
      "Djupsömn", "深い", "深い睡眠", "깊은", "깊은 수면", "深度", "深度睡眠", "深睡",
    ],
    [
      "REM", "REM-Schlaf", "Paradoxal", "Sommeil paradoxal", "Remslaap", "REM-slaap", "REM-sömn", "レム", "レム睡眠", "렘수면",
      "렘 수면", "REM 수면", "快速动眼", "快速眼动", "快速動眼", "快速动眼睡眠",
    ],
  ]

  private static let stages: [String: Int] = {
    var stages: [String: Int] = [:]
    for (stage, names) in names.enumerated() {
      for name in names { stages[name.lowercased()] = stage }
    }
    return stages
  }()

  /// Creates the sleep report of a reading, or returns `nil` if the reading is not about sleep.
  ///
  /// - Parameters:
  ///   - value: the number of a quantity, or `nil` for a reading with members.
  ///   - unit: the unit of the number.
  ///   - stage: the name of a stage, as Health Auto Export writes it (`Core`), or `nil` if the reading has none.
  ///   - times: the start and end of the reading itself.
  package init?(
    _ type: SampleType, value: Double?, unit: String, stage: String?, members: [String: JSONValue],
    times: ClosedRange<Timestamp>
  ) {
    if let stage {
      guard let raw = Self.stages[stage.lowercased()] else { return nil }
      self = .stage(raw)
      return
    }
    var night: Night?
    if let value {
      // Only a duration over a period is the total of a night.
      let seconds = unit == "s" ? value : value * 3_600
      guard ["hr", "h", "s"].contains(unit), times.lowerBound < times.upperBound else { return nil }
      night = Night(times: times, asleep: seconds, core: 0, deep: 0, rem: 0, awake: 0, inBed: 0)
    } else {
      night = type.rawValue == "p247.sleep" ? Self.dailySummary(members) : Self.autoExport(members)
    }
    guard let night, night.isPlausible else { return nil }
    self = .night(night)
  }

  private static func autoExport(_ members: [String: JSONValue]) -> Night {
    var scale = 3_600.0
    if case .string(let units)? = members["units"] { scale = ["min": 60, "m": 60, "s": 1, "sec": 1][units] ?? scale }
    func hours(_ name: String) -> Double { number(members[name]).map { $0 * scale } ?? 0 }
    var times: ClosedRange<Timestamp>?
    if let start = date(members["sleepStart"]), let end = date(members["sleepEnd"]), start <= end {
      times = start...end
    }
    let (core, deep, rem) = (hours("core"), hours("deep"), hours("rem"))
    // App versions differ in which member holds the total.
    let asleep = max(hours("totalSleep"), hours("asleep"), core + deep + rem)
    return Night(
      times: times, asleep: asleep, core: core, deep: deep, rem: rem, awake: hours("awake"), inBed: hours("inBed"))
  }

  private static func dailySummary(_ members: [String: JSONValue]) -> Night {
    func hours(_ name: String) -> Double { number(members["\(name)_hours"]).map { $0 * 3_600 } ?? 0 }
    let (core, deep, rem) = (hours("core"), hours("deep"), hours("rem"))
    return Night(
      times: nil, asleep: max(hours("total"), core + deep + rem), core: core, deep: deep, rem: rem,
      awake: hours("awake"), inBed: 0)
  }

  private static func date(_ value: JSONValue?) -> Timestamp? {
    if case .string(let text)? = value { AutoExportDate(text)?.instant } else { nil }
  }

  private static func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let integer)?: Double(integer)
    case .number(let number)?: number
    default: nil
    }
  }
}

extension SleepReading.Night {
  /// The tolerance for rounding, in seconds.
  private static let slack = 900.0

  fileprivate var isPlausible: Bool {
    let longest = 48.0 * 3_600
    if let times {
      // The parts of a night lie within it, apart from rounding.
      let length = Double(times.upperBound.seconds) - Double(times.lowerBound.seconds)
      guard length <= longest, asleep + awake <= length + Self.slack else { return false }
    }
    return asleep > 0 && [asleep, core, deep, rem, awake, inBed].allSatisfy { (0...longest).contains($0) }
  }
}
