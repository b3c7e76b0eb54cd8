import HealthModel

/// A reader of the samples' values and payloads, from the columns in which only some samples have an entry.
struct ContentReader {
  private(set) var payloads: [String] = []
  private let kinds: [String]
  private let forms: [CodedForm]
  private var decimals: IndexingIterator<[Int64]>
  private var binaries: IndexingIterator<[Double]>
  private var texts: [String]
  private var nextText = 0
  private let limits: ClientLimits

  init(
    _ columns: Hpeer_V2_SampleColumns, _ texts: consuming [String], changes: CodedChanges, _ limits: ClientLimits
  ) {
    self.limits = limits
    kinds = changes.kinds
    forms = changes.kinds.map(CodedForm.init(kind:))
    decimals = columns.decimal.makeIterator()
    binaries = columns.binary.makeIterator()
    self.texts = texts
  }

  /// Whether every entry of the columns has been read.
  var isAtEnd: Bool {
    var (decimals, binaries) = (decimals, binaries)
    return decimals.next() == nil && binaries.next() == nil && nextText == texts.count
  }

  /// Reads a sample's value. Returns false if it does not suit the sample's kind.
  ///
  /// - Precondition: the sample's kind is an index of the dictionary.
  mutating func read(form: UInt8, into sample: inout CodedSample) -> Bool {
    switch form {
    case ..<SampleForm.binary:
      guard let digits = decimals.next() else { return false }
      sample.number = DecimalNumber(digits: digits, power: form).value
    case SampleForm.binary:
      guard let number = binaries.next() else { return false }
      sample.number = number.isNaN ? nil : number
    case SampleForm.none: break
    case SampleForm.json: return readText(into: &sample)
    default: return false
    }
    switch forms[Int(sample.kind)] {
    case .quantity: return sample.unit != nil
    case .category: return sample.unit == nil && (sample.number.map { Int64(exactly: $0) != nil } ?? true)
    case .other: return false
    }
  }

  /// Reads a payload and encodes it again in canonical form, so that stores can always read it.
  private mutating func readText(into sample: inout CodedSample) -> Bool {
    let kind = kinds[Int(sample.kind)]
    guard sample.unit == nil, forms[Int(sample.kind)] != .quantity, nextText < texts.count else { return false }
    let text = texts[nextText]
    texts[nextText] = ""
    nextText += 1
    if limits.json.takesAsItIs(text, kind: kind) {
      add(text, to: &sample)
      return true
    }
    guard let payload = payload(kind, consume text), let coded = try? CodedPayload(payload) else { return false }
    sample.number = coded.number
    if let json = coded.json { add(json, to: &sample) }
    return true
  }

  private mutating func add(_ json: String, to sample: inout CodedSample) {
    sample.payload = UInt32(payloads.count)
    payloads.append(json)
  }

  private func payload(_ kind: String, _ text: consuming String) -> Payload? {
    guard limits.json.verdict(on: text) == .fits else {
      return limits.columns.verdict(on: text) == .fits ? Payload.columns(kind, text) : nil
    }
    return try? Payload(kind: kind, number: nil, unit: nil, json: text)
  }
}
