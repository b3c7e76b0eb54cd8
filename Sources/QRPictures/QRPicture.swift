import Foundation
import Glibc
import OperatingSystem

/// The texts of the QR codes in a picture: a screenshot or a photo, PNG or JPEG.
///
/// A picture is parsed by libraries written in C, and may have come from anybody. So that is done in a process of its own,
/// which has no network, no files and nothing of this one's environment or memory, and only so much memory and time; the
/// libraries are loaded there, and only then. Where they are not installed, ``QRPictureError/missing(_:)`` says which.
public enum QRPicture {
  /// The word by which ``readingProcess(_:)`` is asked for.
  public static let word = "read-qr-picture"
  /// After which a process that reads is killed.
  private static let patience = Duration.seconds(45)

  /// Reads a file in a process of its own. Throws ``QRPictureError`` and `CancellationError`.
  ///
  /// - Parameter program: which begins with ``readingProcess(_:)`` when it is started with ``word`` alone.
  /// - Returns: the texts of all codes, at least one, each once, in the order in which they were found.
  public static func texts(in path: String, program: String = "/proc/self/exe") async throws -> [String] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw QRPictureError.unreadable(path: path, reason: SystemMessage.text(errno))
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw QRPictureError.unreadable(path: path, reason: "no file")
    }
    guard status.st_size <= PictureReader.mostBytes else { throw QRPictureError.tooLarge }
    let child = ReadingChild(program)
    let answer = try await within(patience, orThrow: QRPictureError.failed) {
      try await onThread(onCancel: child.kill) { _ in try child.run(reading: file) }
    }
    try Task.checkCancellation()
    return try answer.texts()
  }

  /// What the process does that reads: takes a picture from standard input, gives up what it does not need, and prints an
  /// answer. To be called first thing, where the first argument is ``word`` and the only one.
  public static func readingProcess(_ arguments: [String]) {
    guard arguments == [word] else { return }
    let answer = PictureReader.answer(from: STDIN_FILENO, confining: true)
    let bytes = answer.encoded
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    _exit(0)
  }
}
