import Foundation
import GRDB
import HealthModel

/// Compares samples that are written with the copies of them that the store has (``SampleCopy``); for one batch of changes.
struct CopyMerger {
  private let changes: CodedChanges
  private var expander: ChangeExpander?

  init(_ changes: CodedChanges) {
    self.changes = changes
  }

  /// What is to be in the place of a stored copy.
  struct Merge {
    var copy: SampleCopy
    /// The stored copy.
    var present: Sample
    /// What was said of its key.
    var statement: KeyStatement?
    /// Whether it only came by a better road.
    var saysTheSame: Bool { copy.sample == present }
    /// Whether another reading takes the place of one.
    var isReplacement: Bool { copy.sample.uuid.isOfReading && !copy.sample.readsSame(as: present) }
  }

  /// What is to be in the place of the stored copy; `nil` where that stays.
  ///
  /// - Parameters:
  ///   - road: of the sample.
  ///   - change: the number of the stored copy.
  mutating func merge(_ sample: CodedSample, road: SampleRoad, with change: Int64, _ db: Database) throws -> Merge? {
    let stored = try StoredSamples.read(db, where: "change = ?") { $0.bind(change) }
    guard let row = stored.samples.first else { return nil }
    let present = SampleCopy(try stored.expanded { _, expander in try expander.sample(row) }, road: row.road)
    let expander = try self.expander ?? ChangeExpander(changes)
    self.expander = expander
    let incoming = SampleCopy(try expander.sample(sample), road: road)
    var merged = try incoming.merged(with: present)
    if merged != present, !incoming.sample.readsSame(as: present.sample),
      let again = try repeated(present, change, db), try again.isNewer(than: incoming)
    {
      merged = again
    }
    if merged == present { return nil }
    return Merge(
      copy: merged, present: present.sample, statement: row.statement.map { stored.changes.statements[Int($0)] })
  }

  /// A reading that was said again, later than it says: who does not know that would take for newer what is older.
  private func repeated(_ reading: SampleCopy, _ change: Int64, _ db: Database) throws -> SampleCopy? {
    guard reading.sample.uuid.isOfReading, let said = try Repetition.last(of: change, db) else { return nil }
    var again = reading
    again.sample.created = said
    return again
  }
}
