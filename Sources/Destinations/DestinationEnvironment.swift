import Foundation
import OperatingSystem

/// The resources that a destination works with, apart from its settings.
public struct DestinationEnvironment: Sendable {
  /// The current record, for values that are computed from all of it.
  public let record: RecordReader
  /// The store that secrets are read from.
  public let secrets: SecretStore
  /// The path of a folder, mode 0700, in which this destination keeps its state between deliveries. The code that
  /// writes the first file creates the folder. If it is deleted, deliveries are repeated, but nothing is lost.
  public let stateFolder: String
  /// The clock for the destination's own pauses; tests use a clock that doesn't wait.
  public let clock: any Clock<Duration>
  /// A closure that receives progress messages of a long delivery for a person: `Syncing 6/14 days...`.
  public var progress: @Sendable (String) -> Void = { _ in }

  /// The name of the destination, which its folder has.
  var name: String { URL(filePath: stateFolder).deletingLastPathComponent().lastPathComponent }

  /// Creates an environment.
  ///
  /// - Parameter stateFolder: an absolute path; the folder need not exist.
  public init(
    record: RecordReader, secrets: SecretStore, stateFolder: String, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.record = record
    self.secrets = secrets
    self.stateFolder = stateFolder
    self.clock = clock
  }
}
