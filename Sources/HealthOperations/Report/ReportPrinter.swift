import Foundation
import OperatingSystem

/// The reasons why a page could not be converted to PDF.
public enum ReportPrinterError: Error, Hashable, Sendable {
  /// No suitable program is installed.
  case noProgram
  /// The program failed.
  ///
  /// - Parameters:
  ///   - program: the program's name, such as `weasyprint`.
  ///   - said: the end of its standard error; may be empty.
  case failed(program: String, said: String)
  /// The page could not be written to a temporary file.
  case noFile(reason: String)
}

/// A converter from HTML to PDF that uses an installed program.
struct ReportPrinter: Sendable {
  private enum Program: String, CaseIterable {
    case weasyprint, chromium
    case chrome = "google-chrome"
  }

  /// The time limit in seconds, enough for a report of ten years on a slow machine.
  private static let patience = 180.0
  private static let longestError = 300

  private let program: Program
  private let path: String

  /// The installed printer; `nil` if there is none. Chromium and Chrome are left out for root, because they refuse to
  /// run as root with their sandbox.
  static var installed: ReportPrinter? {
    for program in Program.allCases where program == .weasyprint || geteuid() != 0 {
      if let path = CommandRunner.path(of: program.rawValue) { return ReportPrinter(program: program, path: path) }
    }
    return nil
  }

  /// Converts a page to PDF.
  ///
  /// - Parameters:
  ///   - page: HTML in UTF-8.
  ///   - folder: contains a private temporary folder during the conversion.
  /// - Returns: the bytes of the PDF file.
  func print(_ page: [UInt8], workingIn folder: String) async throws(ReportPrinterError) -> [UInt8] {
    let room = "\(folder)/.report-\(UUID().uuidString)"
    guard mkdir(room, 0o700) == 0 else { throw .noFile(reason: SystemError("mkdir", room).reason) }
    defer { try? FileManager.default.removeItem(atPath: room) }
    let (html, pdf) = ("\(room)/report.html", "\(room)/report.pdf")
    do {
      try PrivateFile.create(html, page)
    } catch {
      throw .noFile(reason: error.reason)
    }
    let arguments =
      switch program {
      case .weasyprint: [html, pdf]
      case .chromium, .chrome:
        [
          "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer", "--user-data-dir=\(room)/profile",
          "--host-resolver-rules=MAP * ~NOTFOUND", "--print-to-pdf=\(pdf)", "file://\(html)",
        ]
      }
    let variables = ["PATH": "/usr/bin:/bin", "HOME": room, "TMPDIR": room]
    let end = await CommandRunner.run(path: path, arguments, variables: variables, limit: Self.patience)
    let said = if case .finished(_, _, let errors) = end { errors } else { "" }
    guard case .finished(0, _, _) = end, let bytes = FileManager.default.contents(atPath: pdf), !bytes.isEmpty else {
      throw .failed(program: program.rawValue, said: String(said.suffix(Self.longestError)))
    }
    return Array(bytes)
  }
}
