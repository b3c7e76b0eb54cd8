import Foundation

/// Looks into folders that others have filled.
enum DirectoryListing {
  enum Kind: Equatable {
    case file(size: Int64)
    case folder
    /// Neither a file nor a folder, such as a symbolic link, which may lead anywhere.
    case other
    case missing
  }

  /// What is at `path` itself; the target of a link is not looked at.
  static func kind(of path: String) -> Kind {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .missing }
    return switch status.st_mode & S_IFMT {
    case S_IFDIR: .folder
    case S_IFREG: .file(size: Int64(status.st_size))
    default: .other
    }
  }

  /// The names in a folder, in no order.
  static func names(in path: String) throws(ImportError) -> [String] {
    guard let directory = opendir(path) else { throw ImportError(errno: errno, path: path) }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
