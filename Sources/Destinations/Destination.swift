import Foundation
import HealthModel

/// A place on the network or on disk that a health record is delivered to. A destination describes itself and
/// delivers one batch at a time. The ``Courier`` does the rest for all kinds: position, retries, pauses, dead
/// letters, audit.
///
/// A batch may be delivered again after a crash or a lost acknowledgement, under the same ``DeliveryKey``. Its
/// samples must then be stored only once. Samples have UUIDs; a destination that doesn't store the UUIDs must
/// remember the key.
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
/// A destination that publishes statistics reads only the changed days from a batch, and queries their current values
/// from ``DestinationEnvironment/record``. A file that holds all samples at once is an export, not a destination.
public protocol Destination: Sendable {
  /// The name, purpose and settings of this kind of destination.
  static var description: DestinationDescription { get }
  /// The limits and features of this destination. They may depend on its settings and never change afterwards.
  var capabilities: DestinationCapabilities { get }

  /// Checks the settings by themselves. Reads neither secrets nor files, so that the result for a settings file is
  /// the same on every machine. All keys are keys of ``description``, each with a value of its type. The default
  /// implementation accepts everything.
  ///
  /// Check for missing settings last: a person who adds a destination is asked for secrets once the rest is valid.
  ///
  /// - Throws: ``SettingsError``, the same as ``init(_:in:)`` for the same settings.
  static func validate(_ settings: DestinationSettings) throws(SettingsError)

  /// Creates a destination without opening a connection. The settings have all required keys of ``description``.
  ///
  /// - Throws: ``SettingsError`` if the settings contradict each other or a secret cannot be read.
  init(_ settings: DestinationSettings, in environment: DestinationEnvironment) throws(SettingsError)

  /// Checks that the destination accepts deliveries: writes a probe and removes it again, so that permission to read
  /// is not mistaken for permission to write.
  ///
  /// - Throws: ``DeliveryError``, whose reason explains the problem in a sentence.
  func check() async throws

  /// Delivers a whole batch, deletions before additions, and returns once the other side has stored it permanently.
  /// Stops when its task is cancelled, which happens after ``DestinationCapabilities/deadline``.
  ///
  /// - Throws: ``DeliveryError``, or an error of ``DeliveryBatch/additions()``; any other error counts as
  ///   ``DeliveryError/temporary(reason:retryAfter:)``. After an error the whole batch is delivered again.
  func deliver(_ batch: DeliveryBatch, key: DeliveryKey) async throws -> Delivery

  /// Discards what the destination remembers of earlier deliveries, because the place may have lost data and
  /// everything, or everything that starts at `start` or later, is about to be delivered again. The default
  /// implementation does nothing, for kinds that remember nothing.
  ///
  /// - Throws: `SystemError` if the saved state cannot be changed.
  func forget(from start: Timestamp?) async throws

  /// Deletes daily events that match no day of the new home time zone. Called before a full redelivery, only if
  /// ``DestinationCapabilities/days`` is ``DestinationCapabilities/Days/named``.
  ///
  /// - Throws: ``DeliveryError``.
  func withdrawDays() async throws

  /// Checks whether the place still has what was delivered, without writing, at a cost that doesn't grow with the
  /// history. Called before changes are delivered, and every ``DestinationCapabilities/examinationInterval`` during a
  /// long delivery, but never concurrently with ``deliver(_:key:)``. The default implementation returns
  /// ``PlaceState/intact``, for kinds that cannot tell.
  ///
  /// - Throws: ``DeliveryError``. A place that cannot be reached is examined again later.
  func examine() async throws -> PlaceState

  /// Restores what ``examine()`` found missing or stale. The default implementation does nothing.
  ///
  /// - Throws: ``DeliveryError``.
  func mend() async throws

  /// Leaves a mark at the place that everything up to this delivery has arrived, for ``examine()`` to find. Called
  /// when no more changes are waiting. The default implementation does nothing.
  ///
  /// - Throws: ``DeliveryError``, which the caller ignores.
  func confirm(_ key: DeliveryKey) async throws

  /// Deletes what hpeer has stored at the place for this record. By default, delivers an empty batch that starts
  /// over.
  ///
  /// - Throws: ``DeliveryError``.
  func purge() async throws

  /// Closes open connections after the last delivery. The default implementation does nothing.
  func close() async
}

extension Destination {
  /// Accepts all settings: the checks declared in ``description`` are enough.
  public static func validate(_ settings: DestinationSettings) throws(SettingsError) {}

  /// Does nothing, for kinds that remember nothing.
  public func forget(from start: Timestamp?) async throws {}

  /// Does nothing, for kinds without daily events.
  public func withdrawDays() async throws {}

  /// Returns ``PlaceState/intact``, for kinds that cannot tell.
  public func examine() async throws -> PlaceState { .intact }

  /// Does nothing, for kinds with nothing to restore.
  public func mend() async throws {}

  /// Does nothing, for kinds that leave no mark.
  public func confirm(_ key: DeliveryKey) async throws {}

  /// Delivers an empty batch that starts over.
  public func purge() async throws {
    _ = try await deliver(.empty(startsOver: true), key: .purging)
  }

  /// Does nothing, for kinds without connections.
  public func close() async {}
}

/// The name of a kind of destination: `mqtt`, `s3`, `folder`.
public struct DestinationKind: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  /// Creates a kind without checking the name: `DestinationKind("mqtt")`. A name is lower-case ASCII and must never
  /// change, because positions and logs contain it.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// The description of a kind of destination, for people who list, add or check destinations, and for the
/// documentation.
public struct DestinationDescription: Sendable {
  /// The effect of delivering the same batch twice.
  public enum Repetition: String, Sendable {
    /// The second delivery changes nothing: it sets a state, replaces a file or repeats a PUT of the same name.
    case idempotent
    /// The other side recognizes the key of a batch or a sample and skips what it already has.
    case byKey
    /// A rare duplicate is possible after a lost answer.
    case atLeastOnce
  }

  /// The value of `kind` in a settings file.
  public let kind: DestinationKind
  /// A sentence that tells what this kind does.
  public let summary: String
  /// The effect of a repeated delivery, shown to people who list or add destinations.
  public let repetition: Repetition
  /// The settings of this kind, in the order in which a person is asked for them, secrets last. Settings that all
  /// kinds have (``CommonSettings``) are not included.
  public let fields: [SettingField]
  /// Whether this kind passes on any samples, which may then be hourly or daily statistics and in other units
  /// (``DeliveryShape``). Other kinds compute their own numbers.
  public let passesSamplesOn: Bool
  /// Whether this kind displays numbers to people, who may choose the units (``RecordReader/units``).
  public let showsNumbers: Bool

  /// Creates a description.
  ///
  /// - Parameters:
  ///   - summary: a sentence.
  ///   - fields: without the settings in ``CommonSettings``.
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

/// The limits and features of a destination.
public struct DestinationCapabilities: Hashable, Sendable {
  /// The daily values that a destination computes itself, and that change with the home time zone.
  public enum Days: Hashable, Sendable {
    /// No daily values.
    case none
    /// Totals of today, and the last night's sleep.
    case current
    /// Values of every day, delivered again from the start.
    case all
    /// Values of every day, stored under names of their own beside unrelated data. Only days that don't exist in the
    /// new time zone are deleted (``Destination/withdrawDays()``).
    case named
  }

  /// The maximum number of samples and tombstones in one batch; at least 1.
  public var maximumChanges: Int
  /// Whether the destination can delete samples. Otherwise batches contain no deletions.
  public var deletes: Bool
  /// The time limit for one delivery, after which it counts as failed.
  public var deadline: Duration
  /// The daily values that the destination computes.
  public var days: Days
  /// The interval between two calls of ``Destination/examine()`` during a long delivery.
  public var examinationInterval: Duration
  /// Whether ``Destination/purge()`` deletes what was delivered.
  public var purges: Bool

  /// Creates capabilities.
  ///
  /// - Parameter maximumChanges: a value below 1 counts as 1.
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

/// The idempotency key of a batch: a batch that is delivered again has the same key, and no other batch has it. The
/// repeated batch may lack samples that were deleted in the meantime.
public struct DeliveryKey: Hashable, Sendable, CustomStringConvertible {
  /// The key as text: at most 128 ASCII characters, no spaces. Fits a header such as `Idempotency-Key`, and a file
  /// name.
  public let description: String

  /// A new unique key for a delivery that purges, which belongs to no page of a record.
  static var purging: DeliveryKey { DeliveryKey(description: "purge-\(UUID().uuidString.lowercased())") }
}

/// The result of a successful delivery.
public struct Delivery: Hashable, Sendable {
  /// The samples that the other side will never accept, for example of an unknown type. It has accepted all others.
  public var refused: [RefusedSample]

  /// Creates the result of a delivery in which everything except `refused` was accepted.
  public init(refused: [RefusedSample] = []) { self.refused = refused }
}

/// A sample that a destination refuses permanently, without the sample's value.
public struct RefusedSample: Hashable, Sendable {
  /// The reference of the sample that was to be added or deleted.
  public var sample: SampleReference
  /// The other side's explanation, for a person.
  public var reason: String

  /// Creates a refusal.
  ///
  /// - Parameter reason: part of a sentence, without health values.
  public init(_ sample: SampleReference, reason: String) {
    self.sample = sample
    self.reason = reason
  }
}

/// The reason why a batch was not delivered.
public enum DeliveryError: Error, Hashable, Sendable {
  /// A failure that may succeed later: no connection, or a busy server.
  ///
  /// - Parameter retryAfter: the minimum time to wait, from an HTTP `Retry-After` header (RFC 9110, section 10.2.3).
  case temporary(reason: String, retryAfter: Duration? = nil)
  /// A permanent refusal of something in this batch; the other side doesn't tell which sample.
  case refused(reason: String)
  /// A condition that a person must change before anything is accepted: a wrong password, a missing bucket.
  case unusable(reason: String)
}

extension DeliveryError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .temporary(let reason, _), .refused(let reason), .unusable(let reason): reason
    }
  }
}
