import Foundation
import Glibc
import OperatingSystem

/// A reader for QR codes in a picture: a screenshot or a photo, PNG or JPEG.
///
/// Pictures are parsed by C libraries and may come from anyone. So a separate process parses them, with no network,
/// no files, no access to this process's environment or memory, and limited memory and time; the libraries are loaded
/// only there. If they are not installed, ``QRPictureError/missing(_:)`` names them.
public enum QRPicture {
  /// The argument that makes a process run ``readingProcess(_:)``.
  public static let word = "read-qr-picture"
  /// The time after which a reading process is killed.
  private static let patience = Duration.seconds(45)

  /// Returns the texts of the QR codes in a file, read in a separate process. Throws ``QRPictureError`` and
  /// `CancellationError`.
  ///
  /// - Parameter program: a program that calls ``readingProcess(_:)`` when it is started with ``word`` as its only
  ///   argument.
  /// - Returns: the distinct texts of all codes, at least one, in the order in which they were found.
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

  /// Runs the reading process: reads a picture from standard input, confines itself, prints the result and exits.
  /// Call it before anything else. Does nothing unless the only argument is ``word``.
  public static func readingProcess(_ arguments: [String]) {
    guard arguments == [word] else { return }
    let answer = PictureReader.answer(from: STDIN_FILENO, confining: true)
    let bytes = answer.encoded
    _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    _exit(0)
  }
}
