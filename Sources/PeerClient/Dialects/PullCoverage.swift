import Foundation
import HealthModel

/// The extent to which an app's record has been read: how far back completely, and when. Apps report neither
/// deletions nor changes.
public struct PullCoverage: Hashable, Sendable {
  /// The coverage of one type.
  public struct Entry: Hashable, Sendable {
    /// The sample type.
    public var type: SampleType
    /// The number of samples on the phone at the last pull; `nil` before the first.
    public var samples: Int?
    /// The start of the earliest sample when all were read; `nil` before that.
    public var since: Timestamp?
    /// The time at which all samples were last read; `nil` for never.
    public var swept: Timestamp?
    /// Whether the store has everything that the phone had at the last pull, as far as its counts show.
    public var isComplete: Bool
    /// The number of samples that could not be decoded.
    public var unreadable: Int
    /// The reason why the type could not be read in the last pull; `nil` if it could. The next pull tries again. The
    /// text may come from the phone, so treat it as hostile.
    public var problem: String?

    init(
      type: SampleType, samples: Int? = nil, since: Timestamp? = nil, swept: Timestamp? = nil, isComplete: Bool = false,
      unreadable: Int = 0, problem: String? = nil
    ) {
      (self.type, self.samples, self.since, self.swept) = (type, samples, since, swept)
      (self.isComplete, self.unreadable, self.problem) = (isComplete, unreadable, problem)
    }
  }

  /// The coverage of each sample type.
  public var entries: [Entry]
  /// The names of types that the phone has but hpeer does not know.
  public var unknown: [String] = []
  /// Whether the phone's list was empty at the last pull, possibly because it was locked.
  public var listsNothing = false

  /// The types that could not be read in the last pull.
  public var failing: [Entry] { entries.filter { $0.problem != nil } }

  /// The type with the most samples of those read completely, for a display with room for one.
  public var largest: Entry? {
    entries.filter { $0.swept != nil }.max { ($0.samples ?? 0, $1.type.rawValue) < ($1.samples ?? 0, $0.type.rawValue) }
  }
}
