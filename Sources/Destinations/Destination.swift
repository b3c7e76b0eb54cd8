import Foundation
import HealthModel

/// Somewhere on the network or on disk that takes a record: it says what it can do and delivers one batch. Everything else
/// (position, retries, pauses, dead letters, audit) is the ``Courier``'s, the same for all.
///
/// A batch may come again, after a crash or a lost acknowledgement, under the same ``DeliveryKey``: what is delivered twice
/// must be there once. Samples have UUIDs to tell them by; a destination that keeps none remembers the key.
///
/// ```swift
/// struct Printer: Destination {
///   static let description = DestinationDescription(
///     DestinationKind("printer"), "Prints what changes.", repetition: .atLeastOnce,
///     fields: [SettingField("prefix", .text, "Before each line.", default: "")])
///   let capabilities = DestinationCapabilities(maximumChanges: 50)
///   private let prefix: String
///
///   init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError) {
///     prefix = try settings.text("prefix")
///   }
///
///   func check() {}
///   func deliver(_ batch: DeliveryBatch, key: DeliveryKey) throws -> Delivery {
///     for tombstone in batch.deletions { print(prefix + "-", tombstone.sample.uuid) }
///     for sample in try batch.additions() { print(prefix + "+", sample.uuid) }
///     return Delivery()
///   }
/// }
/// ```
///
/// A destination of statistics takes from a batch which days have changed, and asks ``DestinationEnvironment/record`` for
/// what they are now. Not for files that hold all samples at once: those are exports.
public protocol Destination: Sendable {
  /// What destinations like this one are called, what they do and which settings they have.
  static var description: DestinationDescription { get }
  /// The same as long as it lives; settings may decide them.
  var capabilities: DestinationCapabilities { get }

  /// Finds out whether settings make sense by themselves: looks at nothing else, neither secrets nor files, so that a settings
  /// file says the same wherever it is read. The settings have keys of ``description``, each of its type. By default, they do.
  ///
  /// What is missing comes last: a person who adds a destination is asked for secrets once the rest makes sense.
  ///
  /// - Throws: ``SettingsError``, as ``init(_:in:)`` does of the same settings.
  static func validate(_ settings: DestinationSettings) throws(SettingsError)

  /// Opens no connection. The settings have all keys that ``description`` requires, each of its type.
  ///
  /// - Throws: ``SettingsError`` where they make no sense together, or a secret cannot be read.
  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError)

  /// Finds out whether it can be delivered to: writes a probe there and takes it away again, so that a right to read is not
  /// mistaken for a right to write.
  ///
  /// - Throws: ``DeliveryError``, whose reason says in a sentence what is wrong.
  func check() async throws

  /// Delivers all of a batch, deletions before additions, and returns once the other side has it for good. Ends when its
  /// task is cancelled, as it is after ``DestinationCapabilities/deadline``.
  ///
  /// - Throws: ``DeliveryError``, or what ``DeliveryBatch/additions()`` throws; any other error counts as
  ///   ``DeliveryError/temporary(reason:retryAfter:)``. What was delivered before it threw comes again.
  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery

  /// Trusts nothing any more that it remembers of what was delivered: everything, or everything that starts at a time or
  /// later, is about to be delivered again to a place that may have lost it. Nothing by default, for kinds that remember
  /// nothing.
  ///
  /// - Throws: `SystemError` where what it remembers cannot be changed.
  func forget(from start: Timestamp?) async throws

  /// Takes away the events of days that are none any more: the home zone is another one, and everything is about to be
  /// delivered again. Nothing by default; asked of kinds whose days are ``DestinationCapabilities/Days/named``.
  ///
  /// - Throws: ``DeliveryError``.
  func withdrawDays() async throws

  /// Compares the place with what it was given, at a cost that does not grow with the history, and gives it nothing. Asked before
  /// news is delivered, and every ``DestinationCapabilities/examinationInterval`` while a delivery goes on, never beside
  /// ``deliver(_:key:)``. ``PlaceExamination/intact`` by default, for kinds that cannot be asked.
  ///
  /// - Throws: ``DeliveryError``. A place that cannot be reached is asked again.
  func examine() async throws -> PlaceExamination

  /// Gives back what ``examine()`` has found missing or stale. Nothing by default.
  ///
  /// - Throws: ``DeliveryError``.
  func mend() async throws

  /// Leaves word at the place that it has everything up to this delivery, for ``examine()`` to find. Called when nothing more
  /// waits to be delivered. Nothing by default.
  ///
  /// - Throws: ``DeliveryError``, which is passed over.
  func confirm(_ key: DeliveryKey) async throws

  /// Takes away what hpeer has put there of this record. By default, delivers a record without samples that starts over.
  ///
  /// - Throws: ``DeliveryError``.
  func purge() async throws

  /// Ends connections that are open, when nothing more is to be delivered. Nothing by default.
  func close() async
}

extension Destination {
  /// What ``description`` says of each setting is all.
  public static func validate(_ settings: DestinationSettings) throws(SettingsError) {}

  /// Remembers nothing.
  public func forget(from start: Timestamp?) async throws {}

  /// Has none.
  public func withdrawDays() async throws {}

  /// Cannot tell.
  public func examine() async throws -> PlaceExamination { .intact }

  /// Has nothing to give back.
  public func mend() async throws {}

  /// Keeps no word of it.
  public func confirm(_ key: DeliveryKey) async throws {}

  /// Delivers a record without samples.
  public func purge() async throws {
    _ = try await deliver(.empty(startsOver: true), key: .purging)
  }

  /// Has nothing to end.
  public func close() async {}
}

/// The name of a kind of destination: `mqtt`, `s3`, `folder`.
public struct DestinationKind: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  /// `DestinationKind("mqtt")`. Lower-case ASCII, stable for ever: positions and logs have it. Not checked.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// What a kind of destination says of itself: to whoever lists, adds or checks one, and to the documentation.
public struct DestinationDescription: Sendable {
  /// What becomes of a batch that is delivered twice.
  public enum Repetition: String, Sendable {
    /// The same once more: a state, a file, a PUT of the same name.
    case idempotent
    /// The other side knows the key of a batch, or of a sample, and passes over what it has.
    case byKey
    /// Rarely, after a lost answer, something is there twice.
    case atLeastOnce
  }

  /// What a settings file says in `kind`.
  public let kind: DestinationKind
  /// A sentence.
  public let summary: String
  /// Shown to whoever lists or adds one.
  public let repetition: Repetition
  /// Its own settings, in the order in which a person is asked, secrets last; those that all kinds have are not among them.
  public let fields: [SettingField]
  /// Whether it passes on whatever samples it is given, so that these may be the numbers of hours or days, and in other units
  /// (``DeliveryShape``); others make numbers of their own.
  public let passesSamplesOn: Bool
  /// Whether people look at its numbers, which may be in the units that they want (``RecordReader/units``).
  public let showsNumbers: Bool

  /// - Parameters:
  ///   - summary: a sentence.
  ///   - fields: without those of ``CommonSettings``.
  public init(
    _ kind: DestinationKind, _ summary: String, repetition: Repetition, passesSamplesOn: Bool = false,
    showsNumbers: Bool = false, fields: [SettingField]
  ) {
    self.showsNumbers = showsNumbers
    self.passesSamplesOn = passesSamplesOn
    self.kind = kind
    self.summary = summary
    self.repetition = repetition
    self.fields = fields
  }
}

/// What a destination can take.
public struct DestinationCapabilities: Hashable, Sendable {
  /// Which numbers and events of days it makes by itself, so that it must be told again when the home zone is another.
  public enum Days: Hashable, Sendable {
    /// None.
    case none
    /// Totals of today, and the last night's sleep.
    case current
    /// All of them, beginning anew.
    case all
    /// All of them, under names of their own among what has nothing to do with days: only what the days of the new zone have
    /// not goes (``Destination/withdrawDays()``).
    case named
  }

  /// The most samples and tombstones of one batch; at least 1.
  public var maximumChanges: Int
  /// Whether it can delete. Otherwise batches have no deletions.
  public var deletes: Bool
  /// How long one delivery may take before it counts as failed.
  public var deadline: Duration
  /// Which numbers and events of days it makes.
  public var days: Days
  /// How often a place is examined while a delivery goes on (``Destination/examine()``).
  public var examinationInterval: Duration
  /// Whether ``Destination/purge()`` takes away what was put there.
  public var purges: Bool

  /// - Parameter maximumChanges: less than 1 counts as 1.
  public init(
    maximumChanges: Int = 1_000, deletes: Bool = true, deadline: Duration = .seconds(60), days: Days = .none,
    examinationInterval: Duration = .seconds(3_600), purges: Bool = false
  ) {
    self.maximumChanges = max(1, maximumChanges)
    self.deletes = deletes
    self.deadline = deadline
    self.days = days
    self.examinationInterval = examinationInterval
    self.purges = purges
  }
}

/// Names a batch: the same batch, delivered again, has the same key, and no other has. It may lack then what was deleted
/// meanwhile.
public struct DeliveryKey: Hashable, Sendable, CustomStringConvertible {
  /// ASCII, at most 128 characters without spaces: fit for a header such as `Idempotency-Key`, or a file name.
  public let description: String

  /// A new one, of a delivery that is of no page of a record.
  static var purging: DeliveryKey { DeliveryKey(description: "purge-\(UUID().uuidString.lowercased())") }
}

/// What the other side has taken.
public struct Delivery: Hashable, Sendable {
  /// Samples that it will never take, such as of a type that it does not know; it has all others.
  public var refused: [RefusedSample]

  /// Everything was taken, but for what is named.
  public init(refused: [RefusedSample] = []) { self.refused = refused }
}

/// A sample that a destination refuses for good. Holds no value of it.
public struct RefusedSample: Hashable, Sendable {
  /// Of an addition or of a deletion.
  public var sample: SampleReference
  /// For a person: what the other side said.
  public var reason: String

  /// - Parameter reason: a sentence's part, without values.
  public init(_ sample: SampleReference, reason: String) {
    self.sample = sample
    self.reason = reason
  }
}

/// Why a batch was not delivered.
public enum DeliveryError: Error, Hashable, Sendable {
  /// It may succeed later: no connection, a server that is busy.
  ///
  /// - Parameter retryAfter: the least time to wait, as an HTTP `Retry-After` says (RFC 9110, section 10.2.3).
  case temporary(reason: String, retryAfter: Duration? = nil)
  /// The other side refuses something in this batch for good, and does not say which sample.
  case refused(reason: String)
  /// Nothing will be taken before a person has changed something: a wrong password, a bucket that is not there.
  case unusable(reason: String)
}

extension DeliveryError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .temporary(let reason, _), .refused(let reason), .unusable(let reason): reason
    }
  }
}
