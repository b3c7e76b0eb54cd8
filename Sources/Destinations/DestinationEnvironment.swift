import Foundation
import OperatingSystem

/// What a destination has to work with, apart from its settings.
public struct DestinationEnvironment: Sendable {
  /// The record as it is now, for what is computed from all of it.
  public let record: RecordReader
  /// Where secrets are read from.
  public let secrets: SecretStore
  /// A folder of this destination's own for what it must remember between deliveries, mode 0700. Made by whoever writes the
  /// first file there; may be gone at any time, and then costs repetition, never a loss.
  public let stateFolder: String
  /// For pauses of its own; tests have one that does not wait.
  public let clock: any Clock<Duration>
  /// Told for a person what a delivery that takes long is about: `Syncing 6/14 days...`.
  public var progress: @Sendable (String) -> Void = { _ in }

  /// The name of the destination, which its folder has.
  var name: String { URL(filePath: stateFolder).deletingLastPathComponent().lastPathComponent }

  /// - Parameter stateFolder: an absolute path; nothing need be there.
  public init(
    record: RecordReader, secrets: SecretStore, stateFolder: String, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.record = record
    self.secrets = secrets
    self.stateFolder = stateFolder
    self.clock = clock
  }
}
