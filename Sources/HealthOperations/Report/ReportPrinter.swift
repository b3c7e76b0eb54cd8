import Foundation
import OperatingSystem

/// Why a page could not be made a PDF file.
public enum ReportPrinterError: Error, Hashable, Sendable {
  /// None of the programs that can do it is installed.
  case noProgram
  /// - Parameters:
  ///   - program: its name, such as `weasyprint`.
  ///   - said: the end of what it wrote to standard error; empty where that is nothing.
  case failed(program: String, said: String)
  /// The page could not be written for the program, or its answer read.
  case noFile(reason: String)
}

/// Prints a page of HTML to a PDF file, by a program of the system.
struct ReportPrinter: Sendable {
  private enum Program: String, CaseIterable {
    case weasyprint, chromium
    case chrome = "google-chrome"
  }

  /// Time enough for ten years on a slow machine, in seconds.
  private static let patience = 180.0
  private static let longestError = 300

  private let program: Program
  private let path: String

  /// The one that this machine has; `nil` where it has none. Chromium refuses to run as root with its sandbox, and is not
  /// asked to do without.
  static var installed: ReportPrinter? {
    for program in Program.allCases where program == .weasyprint || geteuid() != 0 {
      if let path = CommandRunner.path(of: program.rawValue) { return ReportPrinter(program: program, path: path) }
    }
    return nil
  }

  /// - Parameters:
  ///   - page: HTML as UTF-8.
  ///   - folder: where a private folder is made for the time that it takes.
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
