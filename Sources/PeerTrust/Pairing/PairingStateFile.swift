import Dispatch
import Foundation
import OperatingSystem

/// The pairing state that survives a restart of the server, so that a restart does not refill the budget.
struct PairingState: Hashable, Sendable, Codable {
  var isLocked = false
  /// The number of failed attempts in the open window, or in the one that was open when the process ended.
  var failures = 0
}

/// The file `pairing.json`, 0600, replaced atomically. Its functions block: see ``queue``.
struct PairingStateFile: Sendable {
  let path: String
  /// The serial queue for writes, so that they reach the disk in the order of the attempts.
  let queue = DispatchQueue(label: "hpeer.pairing-state")

  init(directory: URL) { path = "\(directory.path)/pairing.json" }

  /// Reads the state. A missing file means no failures. A damaged file means locked, because its count is unknown.
  func read() throws(SystemError) -> PairingState {
    guard PrivateFile.exists(path) else { return PairingState() }
    let bytes = try PrivateFile.read(path).bytes
    return (try? JSONDecoder().decode(PairingState.self, from: Data(bytes))) ?? PairingState(isLocked: true)
  }

  func write(_ state: PairingState) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    try PrivateFile.replace(path, Array(try encoder.encode(state)))
  }
}
