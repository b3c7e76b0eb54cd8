import Foundation
import SQLiteFiles

extension PeerRegistry {
  /// Copies the registry in `directory`, including its tokens, into a new file at `path`, which must not exist.
  /// Blocking.
  public static func copyBlocking(in directory: URL, to path: String) throws(PeerRegistryError) {
    do {
      try SQLiteFile("\(directory.path)/\(fileName)").copy(to: path)
    } catch {
      throw PeerRegistryError(error, path: path)
    }
  }
}
