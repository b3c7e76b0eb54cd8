import Foundation
import HealthModel

/// A position up to which one phone's record has been read, stored in the same transaction as the samples.
protocol PhonePosition: Codable, Equatable {
  associatedtype TypeState: PhoneTypeState

  /// The version of the text format, 1 so far.
  var version: Int { get }
  /// The state of each type, keyed by the app's name.
  var types: [String: TypeState] { get set }
  /// The names of types that the phone has but hpeer does not request.
  var unknown: [String] { get set }
  /// Whether the phone's last list was empty.
  var listsNothing: Bool { get }
  /// The samples that may have been deleted on the phone.
  var absences: DeletionInference? { get set }
  /// The reasons why types could not be read in the last pull, keyed by the app's names; `nil` if all could.
  var problems: [String: String]? { get set }

  init()

  /// Returns the sample type with the app's name, or `nil` if hpeer does not request it.
  static func type(named name: String) -> SampleType?
}

/// The position up to which one type of a phone's record has been read.
protocol PhoneTypeState: Codable, Equatable {
  /// Creates the state of a type that has not been read.
  init()

  /// The number of samples that the phone had at the last read; `nil` before everything was read once.
  var samples: Int? { get }
  /// The second in which the oldest sample starts.
  var oldest: Int64? { get }
  /// The time at which everything was last read, in seconds since 1970.
  var swept: Int64? { get }
  /// The number of rows in that read that could not be decoded.
  var unreadable: Int { get }
  /// Whether the phone's count differs from this machine's for an unknown reason, usually a deletion on the phone.
  var isDoubtful: Bool { get }
  /// Whether a walk through everything has begun and not ended.
  var isUnderWay: Bool { get }
}

extension PhonePosition {
  /// Parses a position, or returns `nil` for a text of another version or an invalid one.
  init?(_ text: String) {
    guard let position = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)), position.version == 1 else {
      return nil
    }
    self = position
  }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Contains only numbers and texts, so encoding cannot fail.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  var coverage: PullCoverage {
    var coverage = PullCoverage(entries: [])
    coverage.unknown = unknown
    coverage.listsNothing = listsNothing
    for (name, state) in types.sorted(by: { $0.key < $1.key }) {
      guard let type = Self.type(named: name) else { continue }
      coverage.entries.append(
        PullCoverage.Entry(
          type: type, samples: state.samples, since: state.oldest.map { Timestamp(seconds: $0) },
          swept: state.swept.map { Timestamp(seconds: $0) },
          isComplete: state.swept != nil && !state.isUnderWay && !state.isDoubtful && problems?[name] == nil,
          unreadable: state.unreadable, problem: problems?[name]))
    }
    return coverage
  }
}
