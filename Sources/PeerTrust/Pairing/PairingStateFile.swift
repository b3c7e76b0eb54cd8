import Dispatch
import Foundation
import OperatingSystem

/// What must outlive the server's process, so that a restart does not refill the budget.
struct PairingState: Hashable, Sendable, Codable {
  var isLocked = false
  /// Failed attempts in the window that is open, or was when the process died.
  var failures = 0
}

/// `pairing.json`, 0600, replaced in one step. Blocks: see ``queue``.
struct PairingStateFile: Sendable {
  let path: String
  /// Writes go through one serial queue, so that they reach the disk in the order of the attempts.
  let queue = DispatchQueue(label: "hpeer.pairing-state")

  init(directory: URL) { path = "\(directory.path)/pairing.json" }

  /// A missing file is a fresh start. A damaged one locks, because nobody knows how many attempts it counted.
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
