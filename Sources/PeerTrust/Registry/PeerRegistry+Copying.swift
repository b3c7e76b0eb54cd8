import Foundation
import SQLiteFiles

extension PeerRegistry {
  /// Copies the registry in `directory`, with its tokens, as it is now into one file, which must not be there. Blocking.
  public static func copyBlocking(in directory: URL, to path: String) throws(PeerRegistryError) {
    do {
      try SQLiteFile("\(directory.path)/\(fileName)").copy(to: path)
    } catch {
      throw PeerRegistryError(error, path: path)
    }
  }
}
