import Foundation
import HealthModel

/// A HealthKit sample made of an element of the app's lists of states of mind, doses, symptoms or electrocardiograms.
///
/// The initialiser returns `nil` if a member is missing or unknown; the caller then keeps the element as it is. The
/// lists are described in the app's wiki: https://github.com/Lybron/health-auto-export/wiki/API-Export---JSON-Format.
struct AutoExportObject {
  var type: SampleType
  var payload: Payload
  var metadata: Metadata = [:]
  /// The end of the sample, or `nil` if the element's own end applies.
  var end: Timestamp?

  /// Creates an object from an element of one of the app's lists.
  ///
  /// - Parameters:
  ///   - list: the list's name in the file.
  ///   - members: the element's members, without its source.
  init?(_ list: String, _ members: [String: JSONValue], start: Timestamp) {
    switch list {
    case "stateOfMind": self.init(stateOfMind: members)
    case "medications": self.init(dose: members)
    case "symptoms": self.init(symptom: members)
    case "ecg": self.init(electrocardiogram: members, start: start)
    default: return nil
    }
  }

  private init(_ type: SampleType, _ payload: Payload) { (self.type, self.payload) = (type, payload) }

  // MARK: States of mind and doses

  private static let mindMembers: Set<String> = [
    "id", "start", "end", "kind", "labels", "associations", "valence", "valenceClassification", "metadata",
  ]

  private init?(stateOfMind members: [String: JSONValue]) {
    guard Set(members.keys).isSubset(of: Self.mindMembers), members["id"]?.text.flatMap(UUID.init) != nil,
      members["kind"]?.text != nil, let valence = Self.number(members["valence"]), (-1...1).contains(valence)
    else { return nil }
    self.init(
      SampleType("HKDataTypeStateOfMind"),
      .foreign("stateOfMind", Self.content(members, without: ["id", "start", "end"])))
  }

  private static let doseMembers: Set<String> = [
    "displayText", "nickname", "start", "end", "scheduledDate", "form", "status", "isArchived", "dosage", "codings",
    "id",
  ]

  private init?(dose members: [String: JSONValue]) {
    // Without an identifier, a planned dose and the same dose once taken could not be recognised as the same event.
    guard Set(members.keys).isSubset(of: Self.doseMembers), members["id"]?.text.flatMap(UUID.init) != nil,
      members["displayText"]?.text?.isEmpty == false,
      members["status"]?.text?.isEmpty == false
    else { return nil }
    self.init(
      SampleType("HKMedicationDoseEventTypeIdentifierMedicationDoseEvent"),
      .foreign("medicationDoseEvent", Self.content(members, without: ["id", "start", "end"])))
  }

  private static func content(_ members: [String: JSONValue], without names: Set<String>) -> JSONValue {
    .object(members.filter { $0.value != .null && !names.contains($0.key) })
  }

  // MARK: Symptoms

  private static let symptomMembers: Set<String> = ["id", "start", "end", "name", "severity", "userEntered"]

  private init?(symptom members: [String: JSONValue]) {
    guard Set(members.keys).isSubset(of: Self.symptomMembers),
      let type = members["name"]?.text.flatMap(Self.symptom),
      let value = members["severity"]?.text.flatMap({ LocalisedSeverities.value($0, of: type) })
    else { return nil }
    self.init(type, .category(CategoryValue(value: value)))
    if members["userEntered"] == .bool(true) { metadata["HKWasUserEntered"] = "1" }
  }

  /// Returns the type with Apple's English name or HealthKit's own name. Case and separators are ignored.
  private static func symptom(_ name: String) -> SampleType? { symptoms[plain(name)] }

  private static let symptoms: [String: SampleType] = {
    var types: [String: SampleType] = ["bodyandmuscleache": SampleType("HKCategoryTypeIdentifierGeneralizedBodyAche")]
    for entry in SampleTypeCatalogue.healthKit.entries where entry.group == "symptoms" {
      for name in [entry.displayName, entry.shortName] { types[plain(name)] = entry.type }
    }
    return types
  }()

  private static func plain(_ name: String) -> String { name.lowercased().filter(\.isLetter) }

  // MARK: Electrocardiograms

  private static let strips: Set<String> = [
    "id", "start", "end", "classification", "severity", "averageHeartRate", "numberOfVoltageMeasurements",
    "voltageMeasurements", "samplingFrequency",
  ]

  private init?(electrocardiogram members: [String: JSONValue], start: Timestamp) {
    guard Set(members.keys).isSubset(of: Self.strips), case .array(let measurements)? = members["voltageMeasurements"],
      let frequency = Self.number(members["samplingFrequency"]), (1...100_000).contains(frequency),
      !measurements.isEmpty,
      Self.number(members["numberOfVoltageMeasurements"]).map({ $0 == Double(measurements.count) }) ?? true
    else { return nil }
    var (points, units) = ([(date: Double, voltage: Double)](), Set<String>())
    points.reserveCapacity(measurements.count)
    for measurement in measurements {
      guard case .object(let point) = measurement, let voltage = Self.number(point["voltage"]) else { return nil }
      // Numeric dates are seconds since 1970. Text dates have no fraction and so cannot order the voltages.
      points.append((Self.number(point["date"]) ?? points.last?.date ?? 0, voltage))
      units.insert(point["units"]?.text ?? "")
    }
    let voltages = points.enumerated().sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }
      .map(\.element.voltage)
    guard units.count == 1, let unit = units.first else { return nil }
    self.init(
      SampleType("HKDataTypeIdentifierElectrocardiogram"),
      .electrocardiogram(
        Electrocardiogram(
          classification: members["classification"]?.text,
          averageHeartRate: Self.number(members["averageHeartRate"]),
          samplingFrequency: frequency, unit: unit.isEmpty ? nil : unit, voltages: voltages)))
    if let severity = members["severity"]?.text { metadata["hae.severity"] = .string(severity) }
    // Apple's export states no end either, so both imports derive the same end and the samples match.
    let length = Double(voltages.count) / frequency * 1_000_000
    let (end, isTooLate) = start.microseconds.addingReportingOverflow(Int64(length.rounded()))
    self.end = isTooLate ? nil : Timestamp(microseconds: end)
  }

  // MARK: Members

  private static func number(_ value: JSONValue?) -> Double? {
    value?.double.flatMap { $0.isFinite ? $0 : nil }
  }
}

/// The severities of symptoms, as iPhones in several languages spell them.
enum LocalisedSeverities {
  /// The spellings of each `HKCategoryValueSeverity` in English, German, Spanish, French, Italian, Portuguese, Dutch,
  /// Swedish, Japanese, Korean and Chinese, as far as public exports show them.
  private static let severities: [Int64: [String]] = [
    0: [
      "Unspecified", "Present", "Nicht angegeben", "Vorhanden", "Sin especificar", "No especificado", "Presente",
      "Non spécifié", "Présent", "Non specificato", "Não especificado", "Niet opgegeven", "Aanwezig", "Ospecificerat",
      "Finns", "指定なし", "あり", "지정되지 않음", "있음", "未指定", "有",
    ],
    1: [
      "Not Present", "Nicht vorhanden", "No presente", "Ausente", "Absent", "Non présent", "Assente", "Non presente",
      "Não presente", "Niet aanwezig", "Afwezig", "Finns inte", "Förekommer inte", "なし", "없음", "无", "無", "不存在",
    ],
    2: [
      "Mild", "Leicht", "Leve", "Léger", "Légère", "Lieve", "Licht", "Lindrig", "Lätt", "軽度", "軽い", "가벼움", "경미함", "경증",
      "轻微",
      "輕微", "轻度", "輕度",
    ],
    3: [
      "Moderate", "Mäßig", "Mittel", "Mittelschwer", "Moderado", "Moderada", "Modéré", "Modérée", "Moderato",
      "Moderata",
      "Matig", "Måttlig", "中程度", "中等度", "보통", "중간", "중등도", "中等", "中度",
    ],
    4: [
      "Severe", "Schwer", "Stark", "Grave", "Intenso", "Severo", "Sévère", "Forte", "Ernstig", "Hevig", "Svår",
      "重度", "重い", "심함", "심각함", "중증", "严重", "嚴重",
    ],
  ]

  private static let values: [String: Int64] = {
    var values: [String: Int64] = [:]
    for (value, words) in severities {
      for word in words { values[word.lowercased()] = value }
    }
    return values
  }()

  private static let appetites: [String: Int64] = ["unspecified": 0, "no change": 1, "decreased": 2, "increased": 3]
  private static let presences: [String: Int64] = ["present": 0, "not present": 1]

  /// Returns the integer value of a symptom's severity, or `nil` for an unknown word.
  static func value(_ word: String, of type: SampleType) -> Int64? {
    let word = word.lowercased()
    return switch CategoryValueNames.healthKit.name(of: 0, type: type) {
    case "HKCategoryValueSeverityUnspecified": values[word]
    case "HKCategoryValueAppetiteChangesUnspecified": appetites[word]
    case "HKCategoryValuePresencePresent": presences[word] ?? values[word].flatMap { [0: 0, 1: 1][$0] }
    default: nil
    }
  }
}
