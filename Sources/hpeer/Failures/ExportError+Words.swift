import HealthOperations

extension ExportError: WordedError {
  var status: ExitStatus {
    switch self {
    case .isFolder, .alreadyThere: .usage
    case .diskFull, .unwritable: .other
    }
  }

  var sentence: String {
    switch self {
    case .isFolder(let path): "\(path) is a folder; name a file in it."
    case .alreadyThere(let path): "\(path) is there already; name another file, or replace it with --force."
    case .diskFull(let path):
      "The disk that is to hold \(path) is full, so nothing was written; make room and export again."
    case .unwritable(let path, let reason):
      "\(path) could not be written (\(reason)); check the folder and export again."
    }
  }
}
