import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

extension MachineMark {
  /// Returns the mark of this machine for the data in a directory. It changes with every boot. Returns `nil` if the
  /// kernel has no boot ID.
  public static func own(_ directory: String) -> MachineMark? {
    guard case .text(let boot) = FileContents(path: "/proc/sys/kernel/random/boot_id"), !boot.isEmpty else {
      return nil
    }
    return MachineMark(SHA256.hash(data: Data("hpeer machine \(boot) \(directory)".utf8)))
  }
}
