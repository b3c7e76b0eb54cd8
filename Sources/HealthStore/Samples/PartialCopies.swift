import GRDB
import HealthModel

/// Finds out whether a copy of a sample takes the place of the one that the store has: something was left out of that for
/// a reader who may not see it (``SampleCut``), and the copy says more.
struct PartialCopies {
  /// The kinds of ``SampleCut/kinds``, as ``CodedSample/kind``.
  private let kinds: Set<UInt32>

  /// - Parameter kinds: of the changes that are written.
  init(kinds: [String]) {
    self.kinds = Set(kinds.indices.filter { SampleCut.kinds.contains(kinds[$0]) }.map(UInt32.init))
  }

  func concern(_ sample: CodedSample) -> Bool { !kinds.isEmpty && kinds.contains(sample.kind) }

  /// - Parameter number: of the one that the store has.
  func isBetter(_ sample: CodedSample, in changes: CodedChanges, than number: Int64, _ db: Database) throws -> Bool {
    let stored = try Row.fetchOne(
      db, sql: "SELECT kind.name, payload FROM sample JOIN kind ON kind.id = sample.kind WHERE change = ?",
      arguments: [number])
    // Whole ones, nearly all, need not be decoded.
    guard let stored, let text: String = stored[1], text.contains(#""partial":true"#) else { return false }
    let theirs = try Payload(kind: stored[0], number: nil, unit: nil, json: text)
    let mine = try Payload(
      kind: changes.kinds[Int(sample.kind)], number: sample.number, unit: nil,
      json: sample.payload.map { changes.payloads[Int($0)] })
    return try mine.isBetterCopy(than: theirs)
  }
}
