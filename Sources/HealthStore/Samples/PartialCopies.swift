import GRDB
import HealthModel

/// Tells whether something was left out of the copy of a sample that the store has, for a reader who may not see it
/// (``SampleCut``).
struct PartialCopies {
  /// The kinds of ``SampleCut/kinds``, as ``CodedSample/kind``.
  private let kinds: Set<UInt32>

  /// - Parameter kinds: of the changes that are written.
  init(kinds: [String]) {
    self.kinds = Set(kinds.indices.filter { SampleCut.kinds.contains(kinds[$0]) }.map(UInt32.init))
  }

  func concern(_ sample: CodedSample) -> Bool { !kinds.isEmpty && kinds.contains(sample.kind) }

  /// - Parameter number: of the one that the store has. It need not be decoded.
  func isPartial(_ number: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT payload FROM sample WHERE change = ?")
    query.bind(number)
    return try query.text(db)?.contains(#""partial":true"#) ?? false
  }
}
