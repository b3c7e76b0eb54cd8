import Foundation
import GRDB
import HealthModel

/// A merger of samples with their stored copies (``SampleCopy``), for one batch of changes.
struct CopyMerger {
  private let changes: CodedChanges
  private var expander: ChangeExpander?

  init(_ changes: CodedChanges) {
    self.changes = changes
  }

  /// The result of merging a sample with a stored copy.
  struct Merge {
    var copy: SampleCopy
    /// The stored copy before the merge.
    var present: Sample
    /// The statement of the stored copy's key.
    var statement: KeyStatement?
    /// Whether the content is unchanged, and only the road is better.
    var saysTheSame: Bool { copy.sample == present }
    /// Whether another reading replaces the stored one.
    var isReplacement: Bool { copy.sample.uuid.isOfReading && !copy.sample.readsSame(as: present) }
  }

  /// Returns the sample that replaces the stored copy, or `nil` if that stays.
  ///
  /// - Parameters:
  ///   - road: the road of the sample.
  ///   - change: the change number of the stored copy.
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

  /// Returns a reading that was reported again, with its later time. Without that time, an older reading could count
  /// as newer.
  private func repeated(_ reading: SampleCopy, _ change: Int64, _ db: Database) throws -> SampleCopy? {
    guard reading.sample.uuid.isOfReading, let said = try Repetition.last(of: change, db) else { return nil }
    var again = reading
    again.sample.created = said
    return again
  }
}
