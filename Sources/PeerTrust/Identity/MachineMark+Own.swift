import Cryptography
import Foundation
import OperatingSystem
import PeerProtocol

extension MachineMark {
  /// That of this machine, for what is kept in one directory: until the machine starts again. `nil` where the kernel does
  /// not say when that was.
  public static func own(_ directory: String) -> MachineMark? {
    guard case .text(let boot) = FileContents(path: "/proc/sys/kernel/random/boot_id"), !boot.isEmpty else {
      return nil
    }
    return MachineMark(SHA256.hash(data: Data("hpeer machine \(boot) \(directory)".utf8)))
  }
}
