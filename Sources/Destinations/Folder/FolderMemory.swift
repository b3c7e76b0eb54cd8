import Foundation
import OperatingSystem

/// A local note that something was delivered into a folder. If that folder is empty later, it is another one, such as
/// the mount point of a disk that isn't mounted.
struct FolderMemory: Sendable {
  private static let longest = 16 * 1_024

  /// The path that exists after the first delivery, relative to the folder: `health/v1`.
  let landmark: String
  private let path: String
  /// The content of the file. It contains the folder's path, so that another folder counts as new.
  private let text: String

  /// Creates the note without writing it.
  ///
  /// - Parameters:
  ///   - folder: an absolute path.
  ///   - stateFolder: the folder of the file.
  init(of folder: String, landmark: String, stateFolder: String) {
    self.landmark = landmark
    path = "\(stateFolder)/folder.txt"
    text = "\(folder)/\(landmark)\n"
  }

  // MARK: Blocking

  /// Whether something was delivered there; `false` if the file is missing.
  var hasBegun: Bool {
    guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
      let data = FileManager.default.contents(atPath: path)
    else { return false }
    return data == Data(text.utf8)
  }

  /// Writes the note. Throws `SystemError`.
  func noteBeginning() throws {
    try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
    try PrivateFile.replace(path, Array(text.utf8))
  }

  /// Deletes the note. Throws `SystemError`.
  func forget() throws {
    guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("delete", path) }
  }
}
