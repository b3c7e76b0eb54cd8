import HealthModel

extension Sample {
  /// What is reported of one that is left out for its size.
  static let tooLarge = "a sample larger than other machines take"

  /// Whether other machines take it. One that they do not would keep them from all that comes after it.
  ///
  /// - Parameter weight: bytes of text that it was made of.
  ///
  /// Throws `EncodingError` for one that cannot be written as JSON.
  func isWithinBudget(weight: Int) throws -> Bool {
    var rest = self
    rest.payload = .unknown(kind: payload.kind, content: .null)
    let beside = try CanonicalJSON.encode(rest)
    guard JSONBudget.metadata.verdict(on: beside) == .fits, try payload.isWithinBudget else { return false }
    // Numbers may have a few times as many digits as in the file.
    if weight < JSONBudget.sampleBytes / 8 { return true }
    let coded = try CodedPayload(payload).json?.utf8.count ?? 0
    return beside.utf8.count + coded <= JSONBudget.sampleBytes
  }
}
