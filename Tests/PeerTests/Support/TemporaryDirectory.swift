import Foundation

/// Runs `body` with a temporary directory, which is removed afterwards.
func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  // Short, because a Unix socket's path has at most 107 bytes.
  let url = FileManager.default.temporaryDirectory.appending(
    path: "hpeer-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
  try FileManager.default.createDirectory(
    at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url)
}
