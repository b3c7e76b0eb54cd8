/// A small tar file (POSIX) in memory.
public enum TarFile {
  /// - Parameters:
  ///   - files: by name, in their order.
  ///   - modified: of all of them, in seconds since 1970.
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
