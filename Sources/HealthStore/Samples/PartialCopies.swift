import GRDB
import HealthModel

/// A detector of stored samples that lack parts that its sender was not allowed to see (``SampleRedaction``).
struct PartialCopies {
  /// The kinds of ``SampleRedaction/kinds``, as values of ``CodedSample/kind``.
  private let kinds: Set<UInt32>

  /// Creates a detector for changes with these kinds.
  init(kinds: [String]) {
    self.kinds = Set(kinds.indices.filter { SampleRedaction.kinds.contains(kinds[$0]) }.map(UInt32.init))
  }

  func concern(_ sample: CodedSample) -> Bool { !kinds.isEmpty && kinds.contains(sample.kind) }

  /// Returns whether the stored payload is marked as partial, without decoding it.
  ///
  /// - Parameter number: the change number of the stored sample.
  func isPartial(_ number: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT payload FROM sample WHERE change = ?")
    query.bind(number)
    return try query.text(db)?.contains(#""partial":true"#) ?? false
  }
}
