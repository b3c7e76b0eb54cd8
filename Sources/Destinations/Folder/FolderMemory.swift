import Foundation
import OperatingSystem

/// That something was delivered into a folder, in a file: a folder without it is another, such as the one below which a disk
/// was mounted.
struct FolderMemory: Sendable {
  private static let longest = 16 * 1_024

  /// Relative to the folder, what is there once something has been delivered: `health/v1`.
  let landmark: String
  private let path: String
  /// Another folder that a person has chosen is begun anew.
  private let text: String

  /// - Parameters:
  ///   - folder: an absolute path.
  ///   - stateFolder: where the file is.
  init(of folder: String, landmark: String, stateFolder: String) {
    self.landmark = landmark
    path = "\(stateFolder)/folder.txt"
    text = "\(folder)/\(landmark)\n"
  }

  // MARK: Blocking

  /// Whether something was delivered there; not where the file is missing.
  var hasBegun: Bool {
    guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
      let data = FileManager.default.contents(atPath: path)
    else { return false }
    return data == Data(text.utf8)
  }

  /// Throws `SystemError`.
  func noteBeginning() throws {
    try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
    try PrivateFile.replace(path, Array(text.utf8))
  }

  /// Throws `SystemError`.
  func forget() throws {
    guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("delete", path) }
  }
}
