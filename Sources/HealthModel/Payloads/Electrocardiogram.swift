/// An electrocardiogram (`HKElectrocardiogram`). Its start and end are the sample's.
public struct Electrocardiogram: Hashable, Sendable {
  /// The classification, unchanged. Apple's export prints it in the person's language: `Sinus Rhythm`.
  public var classification: String?
  /// The symptoms, unchanged, or `nil` if none were entered.
  public var symptoms: String?
  /// The average heart rate in `count/min`.
  public var averageHeartRate: Double?
  /// The number of voltages per second, in Hz.
  public var samplingFrequency: Double?
  /// The electrodes in Apple's words: `Lead I` is left arm against right.
  public var lead: String?
  /// The unit of ``voltages``, unchanged: `µV`.
  public var unit: String?
  /// The voltages in order, at ``samplingFrequency``. NaN for a value that could not be read.
  public var voltages: [Double]

  /// Creates an electrocardiogram.
  ///
  /// - Parameter voltages: evenly spaced values in `unit`. Thirty seconds from an Apple Watch are about 15,400
  ///   values.
  public init(
    classification: String? = nil, symptoms: String? = nil, averageHeartRate: Double? = nil,
    samplingFrequency: Double? = nil, lead: String? = nil, unit: String? = nil, voltages: [Double] = []
  ) {
    self.classification = classification
    self.symptoms = symptoms
    self.averageHeartRate = averageHeartRate
    self.samplingFrequency = samplingFrequency
    self.lead = lead
    self.unit = unit
    self.voltages = voltages
  }
}

extension Electrocardiogram {
  /// An electrocardiogram without its voltages.
  package struct Head: Codable {
    var electrocardiogram: Electrocardiogram

    static let keys: Set<String> = [
      "classification", "symptoms", "averageHeartRate", "samplingFrequency", "lead", "unit",
    ]

    init(_ electrocardiogram: Electrocardiogram) { self.electrocardiogram = electrocardiogram }

    package init(from decoder: any Decoder) throws {
      let object = try decoder.strictContainer(Self.keys)
      electrocardiogram = try Electrocardiogram(headOf: object)
    }

    package func encode(to encoder: any Encoder) throws {
      var object = encoder.container(keyedBy: OpenKey.self)
      try electrocardiogram.encodeHead(to: &object)
    }
  }

  fileprivate init(headOf object: KeyedDecodingContainer<OpenKey>) throws {
    self.init(
      classification: try object.decodeIfPresent(String.self, forKey: "classification"),
      symptoms: try object.decodeIfPresent(String.self, forKey: "symptoms"),
      averageHeartRate: try object.decodeNumberIfPresent(forKey: "averageHeartRate"),
      samplingFrequency: try object.decodeNumberIfPresent(forKey: "samplingFrequency"),
      lead: try object.decodeIfPresent(String.self, forKey: "lead"),
      unit: try object.decodeIfPresent(String.self, forKey: "unit"))
  }

  fileprivate func encodeHead(to object: inout KeyedEncodingContainer<OpenKey>) throws {
    try object.encodeIfPresent(classification, forKey: "classification")
    try object.encodeIfPresent(symptoms, forKey: "symptoms")
    try object.encodeNumberIfPresent(averageHeartRate, forKey: "averageHeartRate")
    try object.encodeNumberIfPresent(samplingFrequency, forKey: "samplingFrequency")
    try object.encodeIfPresent(lead, forKey: "lead")
    try object.encodeIfPresent(unit, forKey: "unit")
  }
}

extension Electrocardiogram: ColumnPayload {
  package static let kind = "electrocardiogram"
  package static let isUniqueAtItsTime = true
  package var payload: Payload { .electrocardiogram(self) }

  package static let columnNames = ["voltages"]
  package var head: Head { Head(self) }
  package var size: Int { 8 * voltages.count + 512 }

  package func column(_ name: String) -> [Double?]? { voltages }

  package init?(_ head: Head, columns: [String: [Double?]]) {
    guard let column = columns["voltages"], !column.contains(nil) else { return nil }
    self = head.electrocardiogram
    voltages = column.compactMap(\.self)
  }

  package func write(to form: inout CanonicalForm) {
    form.object { form in
      form.member("averageHeartRate", averageHeartRate)
      form.member("classification", classification)
      form.member("lead", lead)
      form.member("samplingFrequency", samplingFrequency)
      form.member("symptoms", symptoms)
      form.member("unit", unit)
      form.member("voltages", voltages) { $0.write($1) }
    }
  }
}

extension Electrocardiogram: Codable {
  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer(Head.keys.union(["voltages"]))
    try self.init(headOf: object)
    voltages = try object.decode([JSONNumber].self, forKey: "voltages").map(\.value)
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: OpenKey.self)
    try encodeHead(to: &object)
    try object.encode(voltages.map(JSONNumber.init), forKey: "voltages")
  }
}
