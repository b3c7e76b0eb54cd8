import AgeEncryption

@testable import BackupArchive

extension FuzzTarget {
  /// Fuzzes a backup's tar file and manifest: names never lead outside the backup, and reads never exceed the actual
  /// content.
  @Sendable static func backupFile(_ input: [UInt8]) {
    if let manifest = try? BackupManifest(input) {
      require(manifest.bytes >= 0 && manifest.files.allSatisfy { $0.bytes >= 0 }, "sizes are counts")
      requireRoundTrip(manifest.record)
    }
    var rest = input[...]
    let reader = TarReader { count in
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    do {
      while let entry = try reader.next() {
        require(!entry.name.isEmpty && entry.size >= 0, "an entry has a name and a size")
        let parts = entry.name.split(separator: "/", omittingEmptySubsequences: false)
        require(!parts.contains { $0.isEmpty || $0 == "." || $0 == ".." }, "a name leads nowhere else: \(entry.name)")
        var count: Int64 = 0
        while let piece = try reader.read() { count += Int64(piece.count) }
        require(count == entry.size, "as many bytes as it says")
      }
    } catch let error as BackupError {
      require(!error.description.isEmpty, "a sentence for every error")
    } catch {
      fatalError("broken promise: an error of its own: \(error)")
    }
  }
}
