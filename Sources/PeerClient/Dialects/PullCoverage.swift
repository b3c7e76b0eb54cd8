import Foundation
import HealthModel

/// What is vouched for of an app's record, which says neither what is deleted nor what is new: how far back it was read
/// whole, and when.
public struct PullCoverage: Hashable, Sendable {
  /// What is known of one type.
  public struct Entry: Hashable, Sendable {
    /// The sample type.
    public var type: SampleType
    /// Samples that the phone had at the last look; `nil` before the first.
    public var samples: Int?
    /// The start of the earliest of them when all were read; `nil` before that.
    public var since: Timestamp?
    /// When all were read last; `nil` for never.
    public var swept: Timestamp?
    /// Whether all that the phone had at the last look is here, as far as its counts tell.
    public var isComplete: Bool
    /// Samples that could not be understood.
    public var unreadable: Int
    /// Why the type could not be read at the last look, which the next pull tries again; `nil` where it could. It may be
    /// the phone's words: hostile text.
    public var problem: String?

    init(
      type: SampleType, samples: Int? = nil, since: Timestamp? = nil, swept: Timestamp? = nil, isComplete: Bool = false,
      unreadable: Int = 0, problem: String? = nil
    ) {
      (self.type, self.samples, self.since, self.swept) = (type, samples, since, swept)
      (self.isComplete, self.unreadable, self.problem) = (isComplete, unreadable, problem)
    }
  }

  /// By type.
  public var entries: [Entry]
  /// Names of what the phone has and hpeer does not ask for, because it does not know it.
  public var unknown: [String] = []
  /// Whether the phone listed nothing at the last look, which may be because it was locked.
  public var listsNothing = false

  /// Those that could not be read at the last look.
  public var failing: [Entry] { entries.filter { $0.problem != nil } }

  /// The type of which most was read whole, for a line that has place for one.
  public var largest: Entry? {
    entries.filter { $0.swept != nil }.max { ($0.samples ?? 0, $1.type.rawValue) < ($1.samples ?? 0, $0.type.rawValue) }
  }
}
