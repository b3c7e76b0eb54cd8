import HealthModel

extension Sample {
  /// The reason reported for a sample that is skipped because of its size.
  static let tooLarge = "a sample larger than other machines take"

  /// Returns whether other machines accept the sample. A larger one would block the transfer of all later samples.
  ///
  /// - Parameter weight: the number of bytes of text that the sample was read from.
  /// - Throws: `EncodingError` if the sample cannot be encoded as JSON.
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
