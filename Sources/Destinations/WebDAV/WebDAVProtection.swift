import Foundation
import Glibc
import OperatingSystem

/// The means of a WebDAV server to keep two writers apart, as a test found them.
struct WebDAVProtection: Codable, Hashable, Sendable {
  /// Whether the server checks `If-None-Match` before it writes.
  var heedsConditions: Bool
  /// Whether a file that was just written has a strong ETag, which `If-Match` requires (RFC 9110, section 8.8.3).
  var hasStrongTags: Bool
  /// Whether the server's exclusive write locks exclude other writers (RFC 4918, section 6). `false` if that was not
  /// tested because conditions are enough.
  var hasLocks: Bool

  /// Whether files are written under a lock. All writers of a server must come to the same result.
  var needsLocks: Bool { hasLocks && !(heedsConditions && hasStrongTags) }
  /// Whether the server protects writers from each other at all.
  var isEnough: Bool { heedsConditions || hasLocks }
}

/// The cached protection of a server, in memory and in a file. If the file is lost, the server is tested again.
actor WebDAVProtectionMemory {
  private struct Kept: Codable {
    var url: String
    var protection: WebDAVProtection
  }

  private static let longest = 16 * 1_024

  private let url: String
  private let path: String
  private var known: WebDAVProtection?

  /// Creates a cache without reading the file.
  ///
  /// - Parameters:
  ///   - url: the collection; a cached result for another URL is ignored.
  ///   - folder: the destination's own state folder.
  init(url: String, folder: String) {
    self.url = url
    path = "\(folder)/webdav.json"
  }

  /// Returns the cached protection, or the result of `probe`.
  func value(_ probe: @Sendable () async throws -> WebDAVProtection) async throws -> WebDAVProtection {
    if let known { return known }
    let (path, url) = (path, url)
    let kept = await onThread { _ -> WebDAVProtection? in
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
        let data = FileManager.default.contents(atPath: path),
        let kept = try? JSONDecoder().decode(Kept.self, from: data), kept.url == url
      else { return nil }
      return kept.protection
    }
    if let kept {
      known = kept
      return kept
    }
    // If two tasks ask at once, both test the server, with the same result.
    let found = try await probe()
    known = found
    let bytes = Array(try JSONEncoder().encode(Kept(url: url, protection: found)))
    // If the result cannot be saved, the server is tested again next time.
    try? await onThread { _ in
      try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
      try PrivateFile.replace(path, bytes)
    }
    return found
  }

  /// Discards the cached result, so that the server is tested again.
  func forget() async {
    known = nil
    let path = path
    await onThread { _ in _ = unlink(path) }
  }
}
