/// A small tar file (POSIX), built in memory.
public enum TarFile {
  /// Returns the bytes of a tar file.
  /// - Parameters:
  ///   - files: the names and contents, in order.
  ///   - modified: the modification time of all files, in seconds since 1970.
  public static func bytes(_ files: [(name: String, content: [UInt8])], modified: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    for file in files {
      let size = Int64(file.content.count)
      bytes += TarHeader.blocks(name: file.name, size: size, modified: modified) + file.content
      bytes += TarHeader.padding(after: size)
    }
    return bytes + TarHeader.end
  }
}
