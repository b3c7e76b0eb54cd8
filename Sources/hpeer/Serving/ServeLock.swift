import Foundation

/// One server per store: two would show two codes and fight for one socket.
struct ServeLock {
  private let descriptor: Int32

  init(_ home: Home) throws {
    let path = home.directory + "/serve.lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .other, "\(path) cannot be written (\(String(cString: strerror(errno)))): check its permissions.")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = (try? String(contentsOfFile: path, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
      close(descriptor)
      throw CommandFailure(
        .storeLocked,
        "hpeer is already serving this store\(holder.map { " (process \($0))" } ?? ""): stop it first, or give this one another store with --home."
      )
    }
    let text = "\(getpid())\n"
    ftruncate(descriptor, 0)
    _ = text.withCString { write(descriptor, $0, strlen($0)) }
  }

  func release() {
    close(descriptor)
  }
}
