BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL);
INSERT INTO "alembic_version" VALUES('e43177bfe90b');
CREATE TABLE assignment (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	duedate DATETIME, 
	course_id VARCHAR(128) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name), 
	FOREIGN KEY(course_id) REFERENCES course (id)
);
INSERT INTO "assignment" VALUES('8ad99b23c34a448192d3747edbb518e1','01_attention',NULL,'katze');
CREATE TABLE base_cell (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	notebook_id VARCHAR(32) NOT NULL, 
	type VARCHAR(50), 
	PRIMARY KEY (id), 
	UNIQUE (name, notebook_id, type), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "base_cell" VALUES('83e1ed3ae641440e966d91ae95536930','attention-contextual_embedding-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('616d9799d63b4b6f90626740642ed351','attention-contextual_embedding-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('c8f770443f6a4269826e5b4aa096359f','attention-scores-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('4c367893649a4119b6aa793f06fe1dc3','attention-scores-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('1d5d39e263924c5f925e9e7557c9be8a','attention-scale-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('90c5a23119724d1fbd0f72760cfc25bf','attention-scale-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('e2f8561188884179b2fe7e3f73d82f47','attention-weights-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('b35809744ac8489ca8eaa51249494281','attention-weights-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('17721dd80ca24eaf8e7f44d1179aa064','attention-output-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('1503fa1b588942e8ad6bde9ff02b7e32','attention-output-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('999d067cbb5a48989b7d978a680c11e2','attention-scaled_dot_product-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('415b4351e7c84adcb2b2c1f5b0b10cfc','attention-scaled_dot_product-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('28b448a4758148e09b5be11ace7c42a9','attention-dot_product_variance-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('c3e7982cf34745c7bcbd669e1e200a88','attention-dot_product_variance-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('38d75407e43d40f2a3eb6dc2e1463448','attention-softmax_jacobian-answer','994f7b1bef48498b99d60b7867c30846','SolutionCell');
INSERT INTO "base_cell" VALUES('0f9a55aafe5f45bbb0c497970f5aa6b4','attention-softmax_jacobian-check','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('48f3ff6b2d3e477eb303e386562efae6','attention-why_scale-written','994f7b1bef48498b99d60b7867c30846','GradeCell');
INSERT INTO "base_cell" VALUES('7f4a89e02e5144fa8f9ef71a2fd1c616','attention-why_scale-written','994f7b1bef48498b99d60b7867c30846','SolutionCell');
CREATE TABLE comment (
	id VARCHAR(32) NOT NULL, 
	notebook_id VARCHAR(32), 
	cell_id VARCHAR(32), 
	auto_comment TEXT, 
	manual_comment TEXT, 
	PRIMARY KEY (id), 
	UNIQUE (cell_id, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES submitted_notebook (id), 
	FOREIGN KEY(cell_id) REFERENCES base_cell (id)
);
INSERT INTO "comment" VALUES('d2a020eac4704b1bb45d4271335e8b96','fcc9ab15924549a78219c5d8fc25e34b','83e1ed3ae641440e966d91ae95536930',NULL,NULL);
INSERT INTO "comment" VALUES('dfe584e423a8488793040f35f37f29e1','fcc9ab15924549a78219c5d8fc25e34b','c8f770443f6a4269826e5b4aa096359f',NULL,NULL);
INSERT INTO "comment" VALUES('9337708d01d14b9889ecd88e06fad0d0','fcc9ab15924549a78219c5d8fc25e34b','1d5d39e263924c5f925e9e7557c9be8a',NULL,NULL);
INSERT INTO "comment" VALUES('eca6fb2757614e1fae795a3cc13bc23d','fcc9ab15924549a78219c5d8fc25e34b','e2f8561188884179b2fe7e3f73d82f47',NULL,NULL);
INSERT INTO "comment" VALUES('f4a5540070b14818af8575f37b1afc72','fcc9ab15924549a78219c5d8fc25e34b','17721dd80ca24eaf8e7f44d1179aa064',NULL,NULL);
INSERT INTO "comment" VALUES('d182ac9958b94231ad77e3f5f4b1dfb5','fcc9ab15924549a78219c5d8fc25e34b','999d067cbb5a48989b7d978a680c11e2',NULL,NULL);
INSERT INTO "comment" VALUES('c06156f772ae4abb90f279235b260674','fcc9ab15924549a78219c5d8fc25e34b','28b448a4758148e09b5be11ace7c42a9',NULL,NULL);
INSERT INTO "comment" VALUES('67d9386cb2454ddd9c0c9d277510a405','fcc9ab15924549a78219c5d8fc25e34b','38d75407e43d40f2a3eb6dc2e1463448',NULL,NULL);
INSERT INTO "comment" VALUES('ed43cd61a31147ec8c54a19d7106d579','fcc9ab15924549a78219c5d8fc25e34b','7f4a89e02e5144fa8f9ef71a2fd1c616',NULL,NULL);
INSERT INTO "comment" VALUES('adcf5ee2f7b04ce7ab8aebcb8aeca199','89abc64749f24af1989cdb0858e1ab20','83e1ed3ae641440e966d91ae95536930','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('adf3748dec96443d928f7ed991ecfdf7','89abc64749f24af1989cdb0858e1ab20','c8f770443f6a4269826e5b4aa096359f','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('29109873ecea47b8b5f12ce79b9736e0','89abc64749f24af1989cdb0858e1ab20','1d5d39e263924c5f925e9e7557c9be8a','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('d0f5765ca9644b7c9a01f41d9f3b6785','89abc64749f24af1989cdb0858e1ab20','e2f8561188884179b2fe7e3f73d82f47','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('33de06beed8d4b30a61c82b3cf84c357','89abc64749f24af1989cdb0858e1ab20','17721dd80ca24eaf8e7f44d1179aa064','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('fb02eb770fcd477da9b67459e0bb046f','89abc64749f24af1989cdb0858e1ab20','999d067cbb5a48989b7d978a680c11e2','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('c46557546ad8489a991594c9a45dea54','89abc64749f24af1989cdb0858e1ab20','28b448a4758148e09b5be11ace7c42a9','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('9c4f59a9dd1a4b2abf272c99a6c51cea','89abc64749f24af1989cdb0858e1ab20','38d75407e43d40f2a3eb6dc2e1463448','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('9bb04dfe79c44a9ab32f369263961493','89abc64749f24af1989cdb0858e1ab20','7f4a89e02e5144fa8f9ef71a2fd1c616','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',NULL);
INSERT INTO "comment" VALUES('7840ed260df5457d96727970873cf9b6','8423e1ed0d4543789ffe09b25ce01784','83e1ed3ae641440e966d91ae95536930',NULL,NULL);
INSERT INTO "comment" VALUES('76a2d6ed9ec741ba95ebd031254999b4','8423e1ed0d4543789ffe09b25ce01784','c8f770443f6a4269826e5b4aa096359f',NULL,NULL);
INSERT INTO "comment" VALUES('04c1fb1c0fdc4cbe9f45ff7c796f4eea','8423e1ed0d4543789ffe09b25ce01784','1d5d39e263924c5f925e9e7557c9be8a',NULL,NULL);
INSERT INTO "comment" VALUES('c58e977e202f4a93bab8043bc1492a5d','8423e1ed0d4543789ffe09b25ce01784','e2f8561188884179b2fe7e3f73d82f47',NULL,NULL);
INSERT INTO "comment" VALUES('49ecd56da6784f9e9f940703aa5f183b','8423e1ed0d4543789ffe09b25ce01784','17721dd80ca24eaf8e7f44d1179aa064',NULL,NULL);
INSERT INTO "comment" VALUES('78f7a720aa6c4045b72e96194c42894f','8423e1ed0d4543789ffe09b25ce01784','999d067cbb5a48989b7d978a680c11e2',NULL,NULL);
INSERT INTO "comment" VALUES('85b35e22945a43a399da964dee096ba1','8423e1ed0d4543789ffe09b25ce01784','28b448a4758148e09b5be11ace7c42a9',NULL,NULL);
INSERT INTO "comment" VALUES('b01526bddbe54e459663f9e60aebaded','8423e1ed0d4543789ffe09b25ce01784','38d75407e43d40f2a3eb6dc2e1463448',NULL,NULL);
INSERT INTO "comment" VALUES('31c931d0049b498a8dd973e119c64d4b','8423e1ed0d4543789ffe09b25ce01784','7f4a89e02e5144fa8f9ef71a2fd1c616',NULL,NULL);
CREATE TABLE course (
	id VARCHAR(128) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (id)
);
INSERT INTO "course" VALUES('default_course');
INSERT INTO "course" VALUES('katze');
CREATE TABLE grade (
	id VARCHAR(32) NOT NULL, 
	notebook_id VARCHAR(32), 
	cell_id VARCHAR(32), 
	auto_score FLOAT, 
	manual_score FLOAT, 
	extra_credit FLOAT, 
	needs_manual_grade BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (cell_id, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES submitted_notebook (id), 
	FOREIGN KEY(cell_id) REFERENCES base_cell (id)
);
INSERT INTO "grade" VALUES('54b16c16d4aa44cfbccd8eefaee5c31a','fcc9ab15924549a78219c5d8fc25e34b','616d9799d63b4b6f90626740642ed351',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('c5d0e7f6de6d48909c832ebad143fe45','fcc9ab15924549a78219c5d8fc25e34b','4c367893649a4119b6aa793f06fe1dc3',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('8576559d76754b2dae4ea393961731f3','fcc9ab15924549a78219c5d8fc25e34b','90c5a23119724d1fbd0f72760cfc25bf',1.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('0b1c35dda963465f814f2ac5198d54d3','fcc9ab15924549a78219c5d8fc25e34b','b35809744ac8489ca8eaa51249494281',3.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('74c9ed4a9d104050936afe31cfa8d8ae','fcc9ab15924549a78219c5d8fc25e34b','1503fa1b588942e8ad6bde9ff02b7e32',1.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('e982e354f667486d804c72440197e5cd','fcc9ab15924549a78219c5d8fc25e34b','415b4351e7c84adcb2b2c1f5b0b10cfc',4.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('6c11b1a3c632472d866e805318fd38c8','fcc9ab15924549a78219c5d8fc25e34b','c3e7982cf34745c7bcbd669e1e200a88',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('c80f9e12620349b8848af19d779e83d6','fcc9ab15924549a78219c5d8fc25e34b','0f9a55aafe5f45bbb0c497970f5aa6b4',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('efe486ff990a4ba08c4212bd9d7fc0b1','fcc9ab15924549a78219c5d8fc25e34b','48f3ff6b2d3e477eb303e386562efae6',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('a74c74820541466e97974cf903236318','89abc64749f24af1989cdb0858e1ab20','616d9799d63b4b6f90626740642ed351',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('82cf7129caeb4d81bf0b47010a0c6a76','89abc64749f24af1989cdb0858e1ab20','4c367893649a4119b6aa793f06fe1dc3',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('649663e9cdb341628734e83afed5dfcc','89abc64749f24af1989cdb0858e1ab20','90c5a23119724d1fbd0f72760cfc25bf',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('0dd19975531c48e3ac0ecf081d7a94c9','89abc64749f24af1989cdb0858e1ab20','b35809744ac8489ca8eaa51249494281',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('2d45956bacdd49c5b9810dba3a9cf8fc','89abc64749f24af1989cdb0858e1ab20','1503fa1b588942e8ad6bde9ff02b7e32',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('afac8bb8cf2445b19f279508a29de070','89abc64749f24af1989cdb0858e1ab20','415b4351e7c84adcb2b2c1f5b0b10cfc',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('0ae21b7dec7f47d884ff4c640e22532f','89abc64749f24af1989cdb0858e1ab20','c3e7982cf34745c7bcbd669e1e200a88',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('b3ab3167cee34c99a4c3e248c9238c8d','89abc64749f24af1989cdb0858e1ab20','0f9a55aafe5f45bbb0c497970f5aa6b4',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('9640c628e6a44306b978dd5cfee668b9','89abc64749f24af1989cdb0858e1ab20','48f3ff6b2d3e477eb303e386562efae6',NULL,NULL,NULL,1);
INSERT INTO "grade" VALUES('9c769ff2ad8a4c7588931d82a68950c3','8423e1ed0d4543789ffe09b25ce01784','616d9799d63b4b6f90626740642ed351',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('d6d23656a3d0411cbf8bd39d4d643789','8423e1ed0d4543789ffe09b25ce01784','4c367893649a4119b6aa793f06fe1dc3',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('831cc302531749308f2d7620c9274347','8423e1ed0d4543789ffe09b25ce01784','90c5a23119724d1fbd0f72760cfc25bf',0.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('3dcbe4101f8c4a6497cc4840ba905ea4','8423e1ed0d4543789ffe09b25ce01784','b35809744ac8489ca8eaa51249494281',3.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('5e759f52283343f28a41daa0ebf33d04','8423e1ed0d4543789ffe09b25ce01784','1503fa1b588942e8ad6bde9ff02b7e32',0.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('430d6a142dcb4bf79e9138cd7c146dc6','8423e1ed0d4543789ffe09b25ce01784','415b4351e7c84adcb2b2c1f5b0b10cfc',0.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('04f8f2da161240efb89e1738fcd59a93','8423e1ed0d4543789ffe09b25ce01784','c3e7982cf34745c7bcbd669e1e200a88',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('2fbb661e01444d9f964d317804cf507e','8423e1ed0d4543789ffe09b25ce01784','0f9a55aafe5f45bbb0c497970f5aa6b4',2.0,NULL,NULL,0);
INSERT INTO "grade" VALUES('484f91829df04a7dbf502c70849d0740','8423e1ed0d4543789ffe09b25ce01784','48f3ff6b2d3e477eb303e386562efae6',NULL,NULL,NULL,1);
CREATE TABLE grade_cells (
	id VARCHAR(32) NOT NULL, 
	max_score FLOAT NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
INSERT INTO "grade_cells" VALUES('616d9799d63b4b6f90626740642ed351',2.0,'code');
INSERT INTO "grade_cells" VALUES('4c367893649a4119b6aa793f06fe1dc3',2.0,'code');
INSERT INTO "grade_cells" VALUES('90c5a23119724d1fbd0f72760cfc25bf',1.0,'code');
INSERT INTO "grade_cells" VALUES('b35809744ac8489ca8eaa51249494281',3.0,'code');
INSERT INTO "grade_cells" VALUES('1503fa1b588942e8ad6bde9ff02b7e32',1.0,'code');
INSERT INTO "grade_cells" VALUES('415b4351e7c84adcb2b2c1f5b0b10cfc',4.0,'code');
INSERT INTO "grade_cells" VALUES('c3e7982cf34745c7bcbd669e1e200a88',2.0,'code');
INSERT INTO "grade_cells" VALUES('0f9a55aafe5f45bbb0c497970f5aa6b4',2.0,'code');
INSERT INTO "grade_cells" VALUES('48f3ff6b2d3e477eb303e386562efae6',2.0,'markdown');
CREATE TABLE katze_answer (  -- which text a written answer had when it was last recorded
    grade_id VARCHAR(32) NOT NULL PRIMARY KEY,
    checksum VARCHAR(128)
);
INSERT INTO "katze_answer" VALUES('efe486ff990a4ba08c4212bd9d7fc0b1','46e3eeede02860552888fbc354e8d3eb');
INSERT INTO "katze_answer" VALUES('9640c628e6a44306b978dd5cfee668b9','');
INSERT INTO "katze_answer" VALUES('484f91829df04a7dbf502c70849d0740','46e3eeede02860552888fbc354e8d3eb');
CREATE TABLE katze_case (
    submission INTEGER NOT NULL REFERENCES katze_submission (id),
    exercise TEXT NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    part TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (submission, exercise, number)
) WITHOUT ROWID
;
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',0,'worked example A: its keys as a sentence, the middle word','values',0,'passed','',5.76555999941774643957e-04);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',1,'one sequence','values',0,'passed','',1.08289999843691475689e-04);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',2,'double precision','values',0,'passed','',9.54719998844666406512e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',3,'transposed in memory','values',0,'passed','',9.79859996732557192444e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',4,'the last word','values',0,'passed','',5.6783999752951785922e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',5,'vectors of one component','values',0,'passed','',5.7105000450974330306e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',6,'worked example A: its keys as a sentence, the middle word, called again','values',0,'passed','',6.70789995638188e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',7,'one sequence','values',1,'passed','',1.54409999595372937619e-04);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',8,'double precision','values',1,'passed','',5.93080003454815596342e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',9,'transposed in memory','values',1,'passed','',4.32939996244385838508e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',10,'the last word','values',1,'passed','',3.96489995182491838932e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',11,'vectors of one component','values',1,'passed','',3.69850004062755e-05);
INSERT INTO "katze_case" VALUES(1,'attention.contextual_embedding',12,'one sequence, called again','values',1,'passed','',3.69350000255508348345e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',0,'worked example A: its keys with themselves','values',0,'passed','',0.000255699000263121);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',1,'one sequence','values',0,'passed','',7.8095999924698844552e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',2,'double precision','values',0,'passed','',5.47719992027850821614e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',3,'transposed in memory','values',0,'passed','',4.43760000052861869335e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',4,'many samples of variance 1','values',0,'passed','',4.86829994770232588052e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',5,'worked example A: its keys with themselves, called again','values',0,'passed','',4.4496000555227510631e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',6,'one sequence','values',1,'passed','',1.54258999828016385436e-04);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',7,'double precision','values',1,'passed','',8.35639984870795160531e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',8,'transposed in memory','values',1,'passed','',5.04449999425560235977e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',9,'many samples of variance 1','values',1,'passed','',4.82020004710648208856e-05);
INSERT INTO "katze_case" VALUES(1,'attention.dot_product_variance',10,'one sequence, called again','values',1,'passed','',4.09010008297627791762e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',0,'worked example A','values',0,'passed','',7.59430004109162837266e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',1,'one sequence','values',0,'passed','',3.87079999200068414211e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',2,'a batch of sequences','values',0,'passed','',5.37199994141701608896e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',3,'a batch of several heads','values',0,'passed','',3.91890007449546828866e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',4,'double precision','values',0,'passed','',4.68099988211179152131e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',5,'transposed in memory','values',0,'passed','',6.0971000493736937642e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',6,'all sizes alike','values',0,'passed','',4.97940000059315934777e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',7,'one query in a batch of one','values',0,'passed','',3.27580000885063782334e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',8,'worked example A, called again','values',0,'passed','',3.86179999622982e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',9,'one sequence','values',1,'passed','',8.56079986988334e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',10,'a batch of sequences','values',1,'passed','',5.55830010853242129087e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',11,'a batch of several heads','values',1,'passed','',3.67350003216415643692e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',12,'double precision','values',1,'passed','',7.1976999606704339385e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',13,'transposed in memory','values',1,'passed','',6.21819999651052e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',14,'all sizes alike','values',1,'passed','',3.2928999644354917109e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',15,'one query in a batch of one','values',1,'passed','',2.69100000878097489476e-05);
INSERT INTO "katze_case" VALUES(1,'attention.output',16,'one sequence, called again','values',1,'passed','',3.85370003641583e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',0,'worked example A','values',0,'passed','',1.14428999950177967548e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scale',1,'one sequence','values',0,'passed','',4.2613999539753422141e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',2,'a batch of sequences','values',0,'passed','',2.82719993265345692634e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',3,'a batch of several heads','values',0,'passed','',2.69699994532857090234e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',4,'double precision','values',0,'passed','',2.4497001504641957581e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',5,'transposed in memory','values',0,'passed','',2.66600000031758099794e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',6,'worked example A, called again','values',0,'passed','',2.79510004475014284253e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',7,'one sequence','values',1,'passed','',8.11410009191604331135e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',8,'a batch of sequences','values',1,'passed','',3.11359999614069238305e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',9,'a batch of several heads','values',1,'passed','',2.55879986070795e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',10,'double precision','values',1,'passed','',2.41450015892041847109e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',11,'transposed in memory','values',1,'passed','',3.68450000678421929478e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scale',12,'one sequence, called again','values',1,'passed','',2.59789994743186980485e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',0,'worked example A','values',0,'passed','',2.67727999016642570495e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',1,'one sequence','values',0,'passed','',1.65895999089116230607e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',2,'a batch of sequences','values',0,'passed','',1.70241999512654729187e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',3,'a batch of several heads','values',0,'passed','',1.58986000315053388476e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',4,'double precision','values',0,'passed','',1.73648000782122835516e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',5,'transposed in memory','values',0,'passed','',1.23253001220291480422e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',6,'all sizes alike','values',0,'passed','',1.29371999719296582043e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',7,'one query in a batch of one','values',0,'passed','',3.01517999105271883308e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',8,'worked example A, called again','values',0,'passed','',2.52645000728080049157e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',9,'one sequence','values',1,'passed','',6.44296000245958566665e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',10,'a batch of sequences','values',1,'passed','',1.46648000736604444682e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',11,'a batch of several heads','values',1,'passed','',1.26007000289973802864e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',12,'double precision','values',1,'passed','',1.57654001668561249971e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',13,'transposed in memory','values',1,'passed','',1.65524999829358421266e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',14,'all sizes alike','values',1,'passed','',2.07327999305562116205e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',15,'one query in a batch of one','values',1,'passed','',1.34509999043075367808e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scaled_dot_product',16,'one sequence, called again','values',1,'passed','',1.1078399984398856759e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scores',0,'worked example A','values',0,'passed','',1.86066999958711676299e-04);
INSERT INTO "katze_case" VALUES(1,'attention.scores',1,'one sequence','values',0,'passed','',4.96030006615910679101e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',2,'the same sizes, in double precision','values',0,'passed','',6.24120002612471580505e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',3,'a batch of sequences','values',0,'passed','',9.48610013438155874609e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',4,'a batch of several heads','values',0,'passed','',4.88529985886998474597e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',5,'double precision','values',0,'passed','',8.30730004963697865605e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',6,'transposed in memory','values',0,'passed','',4.93130009999731555581e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',7,'all sizes alike','values',0,'passed','',4.55380013590911403298e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',8,'one query in a batch of one','values',0,'passed','',3.99489999836077913641e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',9,'worked example A, called again','values',0,'passed','',4.23029996454715728759e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',10,'one sequence','values',1,'passed','',6.11609993939055129885e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',11,'the same sizes, in double precision','values',1,'passed','',3.56129985448205843567e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',12,'a batch of sequences','values',1,'passed','',5.87979993724729865789e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',13,'a batch of several heads','values',1,'passed','',8.68679999257437884807e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',14,'double precision','values',1,'passed','',4.868200085184071213e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',15,'transposed in memory','values',1,'passed','',3.28989990521222352981e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',16,'all sizes alike','values',1,'passed','',3.23779986501904204487e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',17,'one query in a batch of one','values',1,'passed','',3.10659997921902686357e-05);
INSERT INTO "katze_case" VALUES(1,'attention.scores',18,'one sequence, called again','values',1,'passed','',2.84119996649678796529e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',0,'worked example A, in double precision','values',0,'passed','',3.97680001697153784334e-04);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',1,'one row of scores','values',0,'passed','',1.03684000350767746567e-04);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',2,'one sequence','values',0,'passed','',9.74249996943399310111e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',3,'a batch of sequences','values',0,'passed','',9.81249995675170794129e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',4,'a batch of several heads','values',0,'passed','',9.10150010895449668169e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',5,'double precision','values',0,'passed','',9.83159989118576e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',6,'transposed in memory','values',0,'passed','',9.36090000323019921779e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',7,'one score far above the rest','values',0,'passed','',7.85860011092154309153e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',8,'worked example A, in double precision, called again','values',0,'passed','',7.63939988246420398354e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',9,'one row of scores','values',1,'passed','',3.57061000613612122833e-04);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',10,'one sequence','values',1,'passed','',1.54008001118199899792e-04);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',11,'a batch of sequences','values',1,'passed','',9.76549999904818832874e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',12,'a batch of several heads','values',1,'passed','',6.82720001350389793515e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',13,'double precision','values',1,'passed','',6.67561000227578915655e-04);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',14,'transposed in memory','values',1,'passed','',1.0917199870164040476e-04);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',15,'one score far above the rest','values',1,'passed','',8.30529988888884e-05);
INSERT INTO "katze_case" VALUES(1,'attention.softmax_jacobian',16,'one row of scores, called again','values',1,'passed','',6.63680002617184072732e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',0,'worked example A','values',0,'passed','',9.5212260002881521359e-03);
INSERT INTO "katze_case" VALUES(1,'attention.weights',1,'one sequence','values',0,'passed','',1.51254998854710720479e-04);
INSERT INTO "katze_case" VALUES(1,'attention.weights',2,'a batch of sequences','values',0,'passed','',1.14198999654036015272e-04);
INSERT INTO "katze_case" VALUES(1,'attention.weights',3,'a batch of several heads','values',0,'passed','',1.00408999060164205729e-04);
INSERT INTO "katze_case" VALUES(1,'attention.weights',4,'double precision','values',0,'passed','',1.03443000625702552497e-04);
INSERT INTO "katze_case" VALUES(1,'attention.weights',5,'transposed in memory','values',0,'passed','',9.5852999947965145111e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',6,'as many queries as keys','values',0,'passed','',9.48709985095774754881e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',7,'one query in a batch of one','values',0,'passed','',9.65229992289096117019e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',8,'scores in the hundreds','large scores',0,'passed','',7.92470000305911526083e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',9,'scores far below zero','large scores',0,'passed','',7.6443000580184161663e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',10,'a row in the hundreds above a row far below zero','large scores',0,'passed','',7.60630009608576074242e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',11,'in each row one score far above the rest','large scores',0,'passed','',8.10299989097984507679e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',12,'in each row one score far below the rest','large scores',0,'passed','',7.71850009186891838908e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',13,'worked example A, called again','values',0,'passed','',7.28779996279627084732e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',14,'one sequence','values',1,'passed','',1.63853001140523701906e-04);
INSERT INTO "katze_case" VALUES(1,'attention.weights',15,'a batch of sequences','values',1,'passed','',9.89969994407147169113e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',16,'a batch of several heads','values',1,'passed','',7.69739999668672680854e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',17,'double precision','values',1,'passed','',7.02840006852056831121e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',18,'transposed in memory','values',1,'passed','',9.08049987629056e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',19,'as many queries as keys','values',1,'passed','',7.9699000707478262484e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',20,'one query in a batch of one','values',1,'passed','',6.3675001001684e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',21,'scores in the hundreds','large scores',1,'passed','',7.24069996067555621266e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',22,'scores far below zero','large scores',1,'passed','',6.74000002618413418531e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',23,'a row in the hundreds above a row far below zero','large scores',1,'passed','',6.38050005363766103982e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',24,'in each row one score far above the rest','large scores',1,'passed','',6.7470000431058e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',25,'in each row one score far below the rest','large scores',1,'passed','',6.13609990978147834539e-05);
INSERT INTO "katze_case" VALUES(1,'attention.weights',26,'one sequence, called again','values',1,'passed','',5.46209994354285299777e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',0,'worked example A: its keys as a sentence, the middle word','values',0,'passed','',5.25530998856993392109e-04);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',1,'one sequence','values',0,'passed','',7.37089994800044223666e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',2,'double precision','values',0,'passed','',8.00890011305455118417e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',3,'transposed in memory','values',0,'passed','',5.59829986741533502936e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',4,'the last word','values',0,'passed','',4.82309988001361489295e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',5,'vectors of one component','values',0,'passed','',1.04565000583534128963e-04);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',6,'worked example A: its keys as a sentence, the middle word, called again','values',0,'passed','',6.54970008326927199959e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',7,'one sequence','values',1,'passed','',1.85304999831714667379e-04);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',8,'double precision','values',1,'passed','',1.05515999166527763009e-04);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',9,'transposed in memory','values',1,'passed','',7.36100009817164391279e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',10,'the last word','values',1,'passed','',6.31229995633475482463e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',11,'vectors of one component','values',1,'passed','',4.7760999223100952804e-05);
INSERT INTO "katze_case" VALUES(3,'attention.contextual_embedding',12,'one sequence, called again','values',1,'passed','',4.15720005548791959881e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',0,'worked example A: its keys with themselves','values',0,'passed','',1.96131000848254188895e-04);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',1,'one sequence','values',0,'passed','',6.27729987172642722725e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',2,'double precision','values',0,'passed','',5.12160004291217774152e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',3,'transposed in memory','values',0,'passed','',4.32840006396872922778e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',4,'many samples of variance 1','values',0,'passed','',4.67990012111840769648e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',5,'worked example A: its keys with themselves, called again','values',0,'passed','',3.98689990106504410505e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',6,'one sequence','values',1,'passed','',1.31574999613803811371e-04);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',7,'double precision','values',1,'passed','',7.45209999877261e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',8,'transposed in memory','values',1,'passed','',5.19280001753941178321e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',9,'many samples of variance 1','values',1,'passed','',5.24179995409213e-05);
INSERT INTO "katze_case" VALUES(3,'attention.dot_product_variance',10,'one sequence, called again','values',1,'passed','',4.34150006185518577694e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',0,'worked example A','values',0,'wrong','In the result 2 of 4 entries differ, first at index [1, 0]: expected 4.5, got -2.00146.',2.25183999646105803549e-04);
INSERT INTO "katze_case" VALUES(3,'attention.output',1,'one sequence','values',0,'wrong','In the result 10 of 12 entries differ, first at index [1, 0]: expected 0.280679, got -0.229808. Only the first of the 6 along dimension 0 is right.',7.91879992902977392077e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',2,'a batch of sequences','values',0,'wrong','In the result 12 of 24 entries differ, first at index [0, 1, 0]: expected -0.806785, got -0.653379.',7.14260004315292462706e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',3,'a batch of several heads','values',0,'wrong','In the result 56 of 84 entries differ, first at index [0, 0, 1, 0]: expected 1.33193, got 0.962827. Only the first of the 3 along dimension 2 is right.',6.44949996058130636811e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',4,'double precision','values',0,'wrong','In the result 672 of 700 entries differ, first at index [0, 1, 0]: expected -0.693614, got -0.794261. Only the first of the 25 along dimension 1 is right.',6.87720003043068572878e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',5,'transposed in memory','values',0,'wrong','In the result 72 of 84 entries differ, first at index [0, 1, 0]: expected -0.596341, got -0.365343. Only the first of the 7 along dimension 1 is right.',6.08800000918563455343e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',6,'all sizes alike','values',0,'wrong','In the result 18 of 27 entries differ, first at index [0, 1, 0]: expected 1.10522, got -0.822623. Only the first of the 3 along dimension 1 is right.',5.08960001752711832523e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',7,'one query in a batch of one','values',0,'passed','',6.00289986323332414031e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',8,'worked example A, called again','values',0,'wrong','This is the first call once more, with the same inputs. In the result 2 of 4 entries differ, first at index [1, 0]: expected 4.5, got -2.00146.',4.98340014019049704074e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',9,'one sequence','values',1,'wrong','one sequence: the answer differs in its value. The inputs are not shown.',1.57263999426504597067e-04);
INSERT INTO "katze_case" VALUES(3,'attention.output',10,'a batch of sequences','values',1,'wrong','a batch of sequences: the answer differs in its value. The inputs are not shown.',9.97879997157724574208e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',11,'a batch of several heads','values',1,'wrong','a batch of several heads: the answer differs in its value. The inputs are not shown.',7.55519995436770841479e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',12,'double precision','values',1,'wrong','double precision: the answer differs in its value. The inputs are not shown.',6.72700007271487265825e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',13,'transposed in memory','values',1,'wrong','transposed in memory: the answer differs in its value. The inputs are not shown.',5.66839989915024489164e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',14,'all sizes alike','values',1,'wrong','all sizes alike: the answer differs in its value. The inputs are not shown.',5.88969996897503733634e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',15,'one query in a batch of one','values',1,'passed','',5.07749991811579093337e-05);
INSERT INTO "katze_case" VALUES(3,'attention.output',16,'one sequence, called again','values',1,'wrong','one sequence, called again: the answer differs in its value. The inputs are not shown.',5.81560016144067049026e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',0,'worked example A','values',0,'wrong','In the result 6 of 6 entries differ, first at index [0, 0]: expected 8.48528, got 4. Each number is 0.4714 times what it should be: a factor is missing or too many.',7.85259999247500672936e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',1,'one sequence','values',0,'wrong','In the result 42 of 42 entries differ, first at index [0, 0]: expected -0.296317, got -0.152626. Each number is 0.5151 times what it should be: a factor is missing or too many.',3.25390010402770712971e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',2,'a batch of sequences','values',0,'wrong','In the result 30 of 30 entries differ, first at index [0, 0, 0]: expected 0.318331, got 0.335551. Each number is 1.054 times what it should be: a factor is missing or too many.',2.68699986918363720178e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',3,'a batch of several heads','values',0,'wrong','In the result 420 of 420 entries differ, first at index [0, 0, 0, 0]: expected -0.502284, got -0.301835. Each number is 0.6009 times what it should be: a factor is missing or too many.',2.70300006377510726451e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',4,'double precision','values',0,'wrong','In the result 700 of 700 entries differ, first at index [0, 0, 0]: expected -0.269482, got -0.0431171. Each number is 0.16 times what it should be: a factor is missing or too many.',3.80870005756150931119e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',5,'transposed in memory','values',0,'wrong','In the result 12 of 12 entries differ, first at index [0, 0, 0]: expected 0.0833206, got 0.0921144. Each number is 1.106 times what it should be: a factor is missing or too many.',2.69299998763017356395e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',6,'worked example A, called again','values',0,'wrong','This is the first call once more, with the same inputs. In the result 6 of 6 entries differ, first at index [0, 0]: expected 8.48528, got 4. Each number is 0.4714 times what it should be: a factor is missing or too many.',2.87630009552231058478e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',7,'one sequence','values',1,'wrong','one sequence: the answer differs in its value. The inputs are not shown.',8.45060003484832122921e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',8,'a batch of sequences','values',1,'wrong','a batch of sequences: the answer differs in its value. The inputs are not shown.',6.53969982522539794445e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',9,'a batch of several heads','values',1,'wrong','a batch of several heads: the answer differs in its value. The inputs are not shown.',4.81819988635834306478e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',10,'double precision','values',1,'wrong','double precision: the answer differs in its value. The inputs are not shown.',3.21879997500218451023e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',11,'transposed in memory','values',1,'wrong','transposed in memory: the answer differs in its value. The inputs are not shown.',2.62990015471586957573e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scale',12,'one sequence, called again','values',1,'wrong','one sequence, called again: the answer differs in its value. The inputs are not shown.',2.81819993688259273767e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',0,'worked example A','values',0,'wrong','In the result 2 of 4 entries differ, first at index [0, 0]: expected -2.00146, got -2.00013.',8.46095999804674647748e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',1,'one sequence','values',0,'wrong','In the result 84 of 84 entries differ, first at index [0, 0]: expected -0.212728, got -0.952863.',2.57721998423221521079e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',2,'a batch of sequences','values',0,'wrong','In the result 36 of 36 entries differ, first at index [0, 0, 0]: expected 1.32409, got 0.920811.',4.98746499943081289529e-03);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',3,'a batch of several heads','values',0,'wrong','In the result 140 of 140 entries differ, first at index [0, 0, 0, 0]: expected -0.247054, got -0.0742611.',2.90981999569339677691e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',4,'double precision','values',0,'wrong','In the result 252 of 252 entries differ, first at index [0, 0, 0]: expected -0.350088, got -0.151132.',2.9393699878710322082e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',5,'transposed in memory','values',0,'wrong','In the result 24 of 24 entries differ, first at index [0, 0, 0]: expected -0.604856, got -0.689192.',4.94872799936274532228e-03);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',6,'all sizes alike','values',0,'wrong','In the result 27 of 27 entries differ, first at index [0, 0, 0]: expected -0.137313, got -0.429738.',2.69950998699641786515e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',7,'one query in a batch of one','values',0,'wrong','In the result 2 of 2 entries differ, first at index [0, 0, 0]: expected -0.83277, got -1.24122.',2.21427999349543824791e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',8,'worked example A, called again','values',0,'wrong','This is the first call once more, with the same inputs. In the result 2 of 4 entries differ, first at index [0, 0]: expected -2.00146, got -2.00013.',1.40468999234144575893e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',9,'one sequence','values',1,'wrong','one sequence: the answer differs in its value. The inputs are not shown.',0.000704656000380055);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',10,'a batch of sequences','values',1,'wrong','a batch of sequences: the answer differs in its value. The inputs are not shown.',4.63377999039948917925e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',11,'a batch of several heads','values',1,'wrong','a batch of several heads: the answer differs in its value. The inputs are not shown.',2.14608999158372171223e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',12,'double precision','values',1,'wrong','double precision: the answer differs in its value. The inputs are not shown.',1.44976000228780321776e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',13,'transposed in memory','values',1,'wrong','transposed in memory: the answer differs in its value. The inputs are not shown.',1.11384999399888329207e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',14,'all sizes alike','values',1,'wrong','all sizes alike: the answer differs in its value. The inputs are not shown.',1.18305999421863816678e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',15,'one query in a batch of one','values',1,'wrong','one query in a batch of one: the answer differs in its value. The inputs are not shown.',1.0513599954720120877e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scaled_dot_product',16,'one sequence, called again','values',1,'wrong','one sequence, called again: the answer differs in its value. The inputs are not shown.',9.37290005822433158755e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',0,'worked example A','values',0,'passed','',1.26888999147922731935e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scores',1,'one sequence','values',0,'passed','',3.88780008506728336215e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',2,'the same sizes, in double precision','values',0,'passed','',5.79659990762593224644e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',3,'a batch of sequences','values',0,'passed','',1.16412998977466486394e-04);
INSERT INTO "katze_case" VALUES(3,'attention.scores',4,'a batch of several heads','values',0,'passed','',4.57179994555190205574e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',5,'double precision','values',0,'passed','',7.33189990569371730089e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',6,'transposed in memory','values',0,'passed','',4.86320004711160436272e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',7,'all sizes alike','values',0,'passed','',4.7120000090217217803e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',8,'one query in a batch of one','values',0,'passed','',3.89279994124081e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',9,'worked example A, called again','values',0,'passed','',3.80159999622264876961e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',10,'one sequence','values',1,'passed','',5.2638999477494508028e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',11,'the same sizes, in double precision','values',1,'passed','',4.01289998990250751376e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',12,'a batch of sequences','values',1,'passed','',6.32230003247968852519e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',13,'a batch of several heads','values',1,'passed','',3.81860008928924798965e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',14,'double precision','values',1,'passed','',4.67600002593826502561e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',15,'transposed in memory','values',1,'passed','',3.56130003638099879026e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',16,'all sizes alike','values',1,'passed','',3.3579999580979347229e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',17,'one query in a batch of one','values',1,'passed','',3.10560008074389770627e-05);
INSERT INTO "katze_case" VALUES(3,'attention.scores',18,'one sequence, called again','values',1,'passed','',3.0015000447747297585e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',0,'worked example A, in double precision','values',0,'passed','',4.31440999818732962012e-04);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',1,'one row of scores','values',0,'passed','',1.06827999843517318367e-04);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',2,'one sequence','values',0,'passed','',7.53620006435085088014e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',3,'a batch of sequences','values',0,'passed','',7.07150011294288560748e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',4,'a batch of several heads','values',0,'passed','',6.7139999373466707766e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',5,'double precision','values',0,'passed','',6.75600003887666389346e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',6,'transposed in memory','values',0,'passed','',5.81660005991579964756e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',7,'one score far above the rest','values',0,'passed','',5.58730007469421252608e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',8,'worked example A, in double precision, called again','values',0,'passed','',5.83760011068079620599e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',9,'one row of scores','values',1,'passed','',2.3435799994331318885e-04);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',10,'one sequence','values',1,'passed','',9.63729999057250097393e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',11,'a batch of sequences','values',1,'passed','',9.57819993345765396952e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',12,'a batch of several heads','values',1,'passed','',7.2306998845306225121e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',13,'double precision','values',1,'passed','',6.65217999994638375937e-04);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',14,'transposed in memory','values',1,'passed','',1.06217999928048811852e-04);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',15,'one score far above the rest','values',1,'passed','',6.59979996271431446075e-05);
INSERT INTO "katze_case" VALUES(3,'attention.softmax_jacobian',16,'one row of scores, called again','values',1,'passed','',6.4185000155703164637e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',0,'worked example A','values',0,'passed','',3.51161999788018874824e-04);
INSERT INTO "katze_case" VALUES(3,'attention.weights',1,'one sequence','values',0,'passed','',1.1771500066970475018e-04);
INSERT INTO "katze_case" VALUES(3,'attention.weights',2,'a batch of sequences','values',0,'passed','',8.03300008556107e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',3,'a batch of several heads','values',0,'passed','',7.18459996278397738933e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',4,'double precision','values',0,'passed','',7.30579995433799922466e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',5,'transposed in memory','values',0,'passed','',2.81411800096975639462e-03);
INSERT INTO "katze_case" VALUES(3,'attention.weights',6,'as many queries as keys','values',0,'passed','',1.10723998659523203969e-04);
INSERT INTO "katze_case" VALUES(3,'attention.weights',7,'one query in a batch of one','values',0,'passed','',7.37589998607290908694e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',8,'scores in the hundreds','large scores',0,'passed','',6.41349997749785e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',9,'scores far below zero','large scores',0,'passed','',9.72550005826633423566e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',10,'a row in the hundreds above a row far below zero','large scores',0,'passed','',8.41849996504606679081e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',11,'in each row one score far above the rest','large scores',0,'passed','',6.24829990556463599205e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',12,'in each row one score far below the rest','large scores',0,'passed','',6.58979988656938076019e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',13,'worked example A, called again','values',0,'passed','',6.1271000959095545113e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',14,'one sequence','values',1,'passed','',2.18474000575952231884e-04);
INSERT INTO "katze_case" VALUES(3,'attention.weights',15,'a batch of sequences','values',1,'passed','',9.82059991656569764018e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',16,'a batch of several heads','values',1,'passed','',7.39890001568710431456e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',17,'double precision','values',1,'passed','',6.97440009389538317918e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',18,'transposed in memory','values',1,'passed','',8.83319989952724426984e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',19,'as many queries as keys','values',1,'passed','',8.53459987411042675375e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',20,'one query in a batch of one','values',1,'passed','',8.46759994601598e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',21,'scores in the hundreds','large scores',1,'passed','',8.41050004964927211403e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',22,'scores far below zero','large scores',1,'passed','',7.3549001172068528831e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',23,'a row in the hundreds above a row far below zero','large scores',1,'passed','',7.02440011082217097282e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',24,'in each row one score far above the rest','large scores',1,'passed','',7.41509993531508371233e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',25,'in each row one score far below the rest','large scores',1,'passed','',7.04750000295462086796e-05);
INSERT INTO "katze_case" VALUES(3,'attention.weights',26,'one sequence, called again','values',1,'passed','',8.47460014483658596873e-05);
CREATE TABLE katze_change (  -- what an event changed in the grade of an exercise
    event INTEGER NOT NULL REFERENCES katze_event (id),
    exercise TEXT NOT NULL,
    before_outcome TEXT,
    before_points REAL,
    before_misconception TEXT,
    after_outcome TEXT,
    after_points REAL,
    after_misconception TEXT,
    PRIMARY KEY (event, exercise)
) WITHOUT ROWID
;
CREATE TABLE katze_conditions (  -- what the grades of a run follow from, beside submission and exercise
    id INTEGER PRIMARY KEY,
    release TEXT NOT NULL,
    seed TEXT NOT NULL,
    versions TEXT NOT NULL,
    settings TEXT NOT NULL,
    UNIQUE (release, seed, versions, settings)
);
INSERT INTO "katze_conditions" VALUES(1,'366cad9463b184639af8d891aa3e707998adbc9ed8cb4a98b4b8b90012e91b2d','d4443c3ca98c8baa41b5e1a9e450096a2233bbfaaa527bb79f45a2d88fad1a6b','{"Katze": "0.1.0", "Python": "3.11.7", "checks": "3e4a56003d080a4cc3f314327fd17c9459766e09ce6a6bc32f48862b5eef0f80", "ipython": "9.18.1", "library": "9cc96bab4e1f1fe12ff5a8eea14af4677a818fc35193776d0d2a4c0737d93d92", "numpy": "2.4.6", "torch": "2.13.0+cpu"}','{"cells tagged demo": "left out", "limits": {"call_seconds": 10.0, "cell_seconds": 10.0, "file_bytes": 33554432, "files": 10000, "folder_bytes": 268435456, "frame_bytes": 67108864, "memory_bytes": 2147483648, "open_files": 64, "output_bytes": 1048576, "processor_seconds": 60, "submission_seconds": 60.0, "threads": 256, "wall_factor": 10.0, "wall_seconds": 60.0}, "withheld modules": ["course_lib.attention"]}');
CREATE TABLE katze_event (  -- each time that something happened to a submission's grade
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    student TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES katze_run (id),
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    why TEXT NOT NULL,
    digest TEXT NOT NULL,
    handed_in TEXT NOT NULL,
    points REAL,
    max_points INTEGER NOT NULL
);
INSERT INTO "katze_event" VALUES(1,'01_attention','ada',1,'2026-11-22T19:10:53+00:00','graded','["not graded before"]','856ea11fad8f1f23e45f9f58a44f892d22c03bbc779451b472a4881f767829f6','',17.0,17);
INSERT INTO "katze_event" VALUES(2,'01_attention','zora',1,'2026-11-22T19:10:53+00:00','graded','["not graded before"]','90fd1583026044dd8be656e2c4fdafa9b3cfeae8ab70f569dc31835a6a6bc40b','',NULL,17);
INSERT INTO "katze_event" VALUES(3,'01_attention','hana',1,'2026-11-22T19:10:55+00:00','graded','["not graded before"]','ccc7688f232504eb2a419b59052cb3cd2049e4187694e580d4b83336ab834ece','',11.0,17);
CREATE TABLE katze_exercise (
    submission INTEGER NOT NULL REFERENCES katze_submission (id),
    number INTEGER NOT NULL,
    exercise TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES katze_run (id),
    cell TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    seed INTEGER NOT NULL,
    level TEXT NOT NULL,
    outcome TEXT NOT NULL,
    points REAL,
    max_points INTEGER NOT NULL,
    misconception TEXT,
    note TEXT NOT NULL,
    PRIMARY KEY (submission, exercise)
) WITHOUT ROWID
;
INSERT INTO "katze_exercise" VALUES(1,0,'attention.contextual_embedding',1,'attention-contextual_embedding-check','{"cells": "f85d63429515d8b8d39115a562d13fb68e0e725cfa7ff869e4be25dd09f53388", "definition": "b068add36b01f0838567f9b5c0c73d7e92831cad3853a35c6c1b09fecbda920a", "limits": {}, "points": {"values": 2}, "texts": "ad8d9d869f32275018ca9a406c645812cc808763ae58a16c8b76fba3857ee31e"}',2217035675275772284,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,6,'attention.dot_product_variance',1,'attention-dot_product_variance-check','{"cells": "a64a0a2b61de5b7f50b54d3a08d58709b659edbcdaee253f2e22838628db6a4f", "definition": "67db583e9bd812f424b6d8bb02cda55d3d499cc5a8a459942ea2eaa319f5de85", "limits": {}, "points": {"values": 2}, "texts": "69a00f6f8f651252e2433290f8ce71a938eda8978d5703e296454bbd146fa89a"}',1010460025437435619,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,4,'attention.output',1,'attention-output-check','{"cells": "11dd4cca1e5383ba81bbb363277367715c67046e3784de8cc900ec9511fc3cb9", "definition": "e42b9ab826c3dccdc38976c62b87418cac6bb80f2345bf929fd6cf693fb7cd58", "limits": {}, "points": {"values": 1}, "texts": "57304b86b280ed89ee9533da9e6f1a30041c3157338bc80810b04130f704e6c4"}',9163477093496431929,'L2','passed',1.0,1,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,2,'attention.scale',1,'attention-scale-check','{"cells": "f94ac9d7dfa5656a0d1720669894c75dbd6b2290aac15d9301349fced5e0fdba", "definition": "fbbb3ffea7e5bc52f41954d1209c2730f81374729ffe411c9e245511fa0c5cef", "limits": {}, "points": {"values": 1}, "texts": "7d3eb3e6e4b27d345e3d3db924b4ff255d91d0147a01b11f3352a63e97d404b1"}',4521594093272437178,'L2','passed',1.0,1,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,5,'attention.scaled_dot_product',1,'attention-scaled_dot_product-check','{"cells": "85017fbff7e58ac4aeef576d35133b98a3038bf5d34c6040410f2da859eb9a30", "definition": "6a70041f2597cb86bb6191b59a2016f032202ff1c0fc012f21337a1b3a5d168f", "limits": {}, "points": {"values": 4}, "texts": "3b1cba5da07094039ea6691353b40e961daa9092b6529c6eb6c587e5f8acb8a8"}',8240742696581070531,'L2','passed',4.0,4,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,1,'attention.scores',1,'attention-scores-check','{"cells": "5e43d029f18f56f845ff912ea524a0bdaaa36497767eba61f8a297634cab73e6", "definition": "32a399b511a959b1293f9b89b531e6c4356bb94017fb825ad78877aa0459998a", "limits": {}, "points": {"values": 2}, "texts": "23792b1fd323888b6ce9baf436e99540c93e49c4cccc407d5c4b735ebb524f1a"}',4719875686634082660,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,7,'attention.softmax_jacobian',1,'attention-softmax_jacobian-check','{"cells": "085e605812dfef5b373caa0a3f45565816c7813732a5af8c1902398bff2ca7f4", "definition": "46f25ade8cafead9dc1df0c6905aba675ecdbb0dacbdf046c4d4f90af456dd41", "limits": {}, "points": {"values": 2}, "texts": "0919005a1b30de50397aeca6f7f610b5b44b451aa2a6e3d7ad4eef5af6dd1ebc"}',408158433782114881,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(1,3,'attention.weights',1,'attention-weights-check','{"cells": "2579962a860a5bfd3eccf47df4f9984603d86962c89e104cf337ebd65878a0d8", "definition": "0211931a7963b730ad396e25fb564ce28d6768ed3b9300acc3327258a5cec246", "limits": {}, "points": {"large scores": 1, "values": 2}, "texts": "43d281e70ac6c62b8b37fe3869e23958eece69c59782ef2530bdd0709bc2a789"}',2685955329085128693,'L2','passed',3.0,3,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,0,'attention.contextual_embedding',1,'attention-contextual_embedding-check','{"cells": "f85d63429515d8b8d39115a562d13fb68e0e725cfa7ff869e4be25dd09f53388", "definition": "b068add36b01f0838567f9b5c0c73d7e92831cad3853a35c6c1b09fecbda920a", "limits": {}, "points": {"values": 2}, "texts": "ad8d9d869f32275018ca9a406c645812cc808763ae58a16c8b76fba3857ee31e"}',2217035675275772284,'','unreadable',NULL,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,6,'attention.dot_product_variance',1,'attention-dot_product_variance-check','{"cells": "a64a0a2b61de5b7f50b54d3a08d58709b659edbcdaee253f2e22838628db6a4f", "definition": "67db583e9bd812f424b6d8bb02cda55d3d499cc5a8a459942ea2eaa319f5de85", "limits": {}, "points": {"values": 2}, "texts": "69a00f6f8f651252e2433290f8ce71a938eda8978d5703e296454bbd146fa89a"}',1010460025437435619,'','unreadable',NULL,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,4,'attention.output',1,'attention-output-check','{"cells": "11dd4cca1e5383ba81bbb363277367715c67046e3784de8cc900ec9511fc3cb9", "definition": "e42b9ab826c3dccdc38976c62b87418cac6bb80f2345bf929fd6cf693fb7cd58", "limits": {}, "points": {"values": 1}, "texts": "57304b86b280ed89ee9533da9e6f1a30041c3157338bc80810b04130f704e6c4"}',9163477093496431929,'','unreadable',NULL,1,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,2,'attention.scale',1,'attention-scale-check','{"cells": "f94ac9d7dfa5656a0d1720669894c75dbd6b2290aac15d9301349fced5e0fdba", "definition": "fbbb3ffea7e5bc52f41954d1209c2730f81374729ffe411c9e245511fa0c5cef", "limits": {}, "points": {"values": 1}, "texts": "7d3eb3e6e4b27d345e3d3db924b4ff255d91d0147a01b11f3352a63e97d404b1"}',4521594093272437178,'','unreadable',NULL,1,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,5,'attention.scaled_dot_product',1,'attention-scaled_dot_product-check','{"cells": "85017fbff7e58ac4aeef576d35133b98a3038bf5d34c6040410f2da859eb9a30", "definition": "6a70041f2597cb86bb6191b59a2016f032202ff1c0fc012f21337a1b3a5d168f", "limits": {}, "points": {"values": 4}, "texts": "3b1cba5da07094039ea6691353b40e961daa9092b6529c6eb6c587e5f8acb8a8"}',8240742696581070531,'','unreadable',NULL,4,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,1,'attention.scores',1,'attention-scores-check','{"cells": "5e43d029f18f56f845ff912ea524a0bdaaa36497767eba61f8a297634cab73e6", "definition": "32a399b511a959b1293f9b89b531e6c4356bb94017fb825ad78877aa0459998a", "limits": {}, "points": {"values": 2}, "texts": "23792b1fd323888b6ce9baf436e99540c93e49c4cccc407d5c4b735ebb524f1a"}',4719875686634082660,'','unreadable',NULL,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,7,'attention.softmax_jacobian',1,'attention-softmax_jacobian-check','{"cells": "085e605812dfef5b373caa0a3f45565816c7813732a5af8c1902398bff2ca7f4", "definition": "46f25ade8cafead9dc1df0c6905aba675ecdbb0dacbdf046c4d4f90af456dd41", "limits": {}, "points": {"values": 2}, "texts": "0919005a1b30de50397aeca6f7f610b5b44b451aa2a6e3d7ad4eef5af6dd1ebc"}',408158433782114881,'','unreadable',NULL,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(2,3,'attention.weights',1,'attention-weights-check','{"cells": "2579962a860a5bfd3eccf47df4f9984603d86962c89e104cf337ebd65878a0d8", "definition": "0211931a7963b730ad396e25fb564ce28d6768ed3b9300acc3327258a5cec246", "limits": {}, "points": {"large scores": 1, "values": 2}, "texts": "43d281e70ac6c62b8b37fe3869e23958eece69c59782ef2530bdd0709bc2a789"}',2685955329085128693,'','unreadable',NULL,3,NULL,'');
INSERT INTO "katze_exercise" VALUES(3,0,'attention.contextual_embedding',1,'attention-contextual_embedding-check','{"cells": "f85d63429515d8b8d39115a562d13fb68e0e725cfa7ff869e4be25dd09f53388", "definition": "b068add36b01f0838567f9b5c0c73d7e92831cad3853a35c6c1b09fecbda920a", "limits": {}, "points": {"values": 2}, "texts": "ad8d9d869f32275018ca9a406c645812cc808763ae58a16c8b76fba3857ee31e"}',3583564815775290688,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(3,6,'attention.dot_product_variance',1,'attention-dot_product_variance-check','{"cells": "a64a0a2b61de5b7f50b54d3a08d58709b659edbcdaee253f2e22838628db6a4f", "definition": "67db583e9bd812f424b6d8bb02cda55d3d499cc5a8a459942ea2eaa319f5de85", "limits": {}, "points": {"values": 2}, "texts": "69a00f6f8f651252e2433290f8ce71a938eda8978d5703e296454bbd146fa89a"}',5609911924718915219,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(3,4,'attention.output',1,'attention-output-check','{"cells": "11dd4cca1e5383ba81bbb363277367715c67046e3784de8cc900ec9511fc3cb9", "definition": "e42b9ab826c3dccdc38976c62b87418cac6bb80f2345bf929fd6cf693fb7cd58", "limits": {}, "points": {"values": 1}, "texts": "57304b86b280ed89ee9533da9e6f1a30041c3157338bc80810b04130f704e6c4"}',8610143805157265343,'L2','wrong',0.0,1,'first_query_everywhere','');
INSERT INTO "katze_exercise" VALUES(3,2,'attention.scale',1,'attention-scale-check','{"cells": "f94ac9d7dfa5656a0d1720669894c75dbd6b2290aac15d9301349fced5e0fdba", "definition": "fbbb3ffea7e5bc52f41954d1209c2730f81374729ffe411c9e245511fa0c5cef", "limits": {}, "points": {"values": 1}, "texts": "7d3eb3e6e4b27d345e3d3db924b4ff255d91d0147a01b11f3352a63e97d404b1"}',2408505311649311866,'L2','wrong',0.0,1,'divided_by_number_of_keys','');
INSERT INTO "katze_exercise" VALUES(3,5,'attention.scaled_dot_product',1,'attention-scaled_dot_product-check','{"cells": "85017fbff7e58ac4aeef576d35133b98a3038bf5d34c6040410f2da859eb9a30", "definition": "6a70041f2597cb86bb6191b59a2016f032202ff1c0fc012f21337a1b3a5d168f", "limits": {}, "points": {"values": 4}, "texts": "3b1cba5da07094039ea6691353b40e961daa9092b6529c6eb6c587e5f8acb8a8"}',8095558449158686392,'L2','wrong',0.0,4,'unscaled_softmax','');
INSERT INTO "katze_exercise" VALUES(3,1,'attention.scores',1,'attention-scores-check','{"cells": "5e43d029f18f56f845ff912ea524a0bdaaa36497767eba61f8a297634cab73e6", "definition": "32a399b511a959b1293f9b89b531e6c4356bb94017fb825ad78877aa0459998a", "limits": {}, "points": {"values": 2}, "texts": "23792b1fd323888b6ce9baf436e99540c93e49c4cccc407d5c4b735ebb524f1a"}',447256001009415788,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(3,7,'attention.softmax_jacobian',1,'attention-softmax_jacobian-check','{"cells": "085e605812dfef5b373caa0a3f45565816c7813732a5af8c1902398bff2ca7f4", "definition": "46f25ade8cafead9dc1df0c6905aba675ecdbb0dacbdf046c4d4f90af456dd41", "limits": {}, "points": {"values": 2}, "texts": "0919005a1b30de50397aeca6f7f610b5b44b451aa2a6e3d7ad4eef5af6dd1ebc"}',3817397666252067865,'L2','passed',2.0,2,NULL,'');
INSERT INTO "katze_exercise" VALUES(3,3,'attention.weights',1,'attention-weights-check','{"cells": "2579962a860a5bfd3eccf47df4f9984603d86962c89e104cf337ebd65878a0d8", "definition": "0211931a7963b730ad396e25fb564ce28d6768ed3b9300acc3327258a5cec246", "limits": {}, "points": {"large scores": 1, "values": 2}, "texts": "43d281e70ac6c62b8b37fe3869e23958eece69c59782ef2530bdd0709bc2a789"}',3008230965319647088,'L2','passed',3.0,3,NULL,'');
CREATE TABLE katze_run (  -- one run of the grader over a lesson; `finished` is missing where it was stopped
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT,
    host TEXT NOT NULL,
    platform TEXT NOT NULL,
    workers INTEGER NOT NULL,
    boxes TEXT NOT NULL,
    forced INTEGER NOT NULL,
    submissions INTEGER NOT NULL
);
INSERT INTO "katze_run" VALUES(1,'01_attention','2026-11-22T19:10:49+00:00','2026-11-22T19:10:55+00:00','laptop','Linux-6.8.0-x86_64-with-glibc2.39',1,'boxes at level L2: Landlock, seccomp; no network, no processes, 2 GB, 60 s of processor time',0,3);
CREATE TABLE katze_schema (version INTEGER NOT NULL);
INSERT INTO "katze_schema" VALUES(3);
CREATE TABLE katze_submission (  -- the grade that counts of each submission
    id INTEGER PRIMARY KEY,
    lesson TEXT NOT NULL,
    student TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES katze_run (id),
    conditions INTEGER NOT NULL REFERENCES katze_conditions (id),
    graded TEXT NOT NULL,
    digest TEXT NOT NULL,
    notebook TEXT NOT NULL,
    handed_in TEXT NOT NULL,
    slot INTEGER NOT NULL,
    repairs TEXT NOT NULL,
    problem TEXT NOT NULL,
    seconds REAL NOT NULL,
    files TEXT NOT NULL,
    void TEXT NOT NULL, remarks TEXT NOT NULL DEFAULT '[]', by_hand TEXT NOT NULL DEFAULT '',
    UNIQUE (lesson, student)
);
INSERT INTO "katze_submission" VALUES(1,'01_attention','ada',1,1,'2026-11-22T19:10:53+00:00','856ea11fad8f1f23e45f9f58a44f892d22c03bbc779451b472a4881f767829f6','acbe912f6cd5d7a53ac8d591023ef81f82378a241533390574cf05e493cfa3ef','',10,'[]','',0.687962535999759,'{"autograded": ["6845b07540f2503d9102a71fb1e55adf7cc02ddc881eb2425110d8973df4f769", 94015], "feedback": ["831ef56eaf3accedf3ced5bbf8fbcd3de4cab1ca0b05c688de42bf4a08b25b93", 136048]}','','[]','');
INSERT INTO "katze_submission" VALUES(2,'01_attention','zora',1,1,'2026-11-22T19:10:53+00:00','90fd1583026044dd8be656e2c4fdafa9b3cfeae8ab70f569dc31835a6a6bc40b','','',10,'[]','The file is not a complete notebook (its JSON is broken at line 1, column 1): open it in Jupyter or Colab, save it, and submit it again.',1.81671700011065695434e-03,'{"feedback": ["a854dee64be9ac093c8a9ea71cc208f9a7fa299c02f8475a546d83081d5e1cad", 8917]}','','[]','');
INSERT INTO "katze_submission" VALUES(3,'01_attention','hana',1,1,'2026-11-22T19:10:55+00:00','ccc7688f232504eb2a419b59052cb3cd2049e4187694e580d4b83336ab834ece','a1e38cb485d4a282ede23703d218046077e0986ec2de3cee55e5a2c43851fbb9','',22,'[]','',1.98029458800010615959e+00,'{"autograded": ["140ad306a5ec5d6975cdbe596a40224ab28340417be86eee57b5499e67cc8898", 100651], "feedback": ["7bce7eeee8b071ab234fe1a83d8e8963b2369b2a92fb33fa167aa0931a8fa41a", 141107]}','','[]','');
CREATE TABLE notebook (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	assignment_id VARCHAR(32), 
	kernelspec VARCHAR(1024), 
	PRIMARY KEY (id), 
	UNIQUE (name, assignment_id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id)
);
INSERT INTO "notebook" VALUES('994f7b1bef48498b99d60b7867c30846','01_attention','8ad99b23c34a448192d3747edbb518e1','{"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}');
CREATE TABLE solution_cells (
	id VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
INSERT INTO "solution_cells" VALUES('83e1ed3ae641440e966d91ae95536930');
INSERT INTO "solution_cells" VALUES('c8f770443f6a4269826e5b4aa096359f');
INSERT INTO "solution_cells" VALUES('1d5d39e263924c5f925e9e7557c9be8a');
INSERT INTO "solution_cells" VALUES('e2f8561188884179b2fe7e3f73d82f47');
INSERT INTO "solution_cells" VALUES('17721dd80ca24eaf8e7f44d1179aa064');
INSERT INTO "solution_cells" VALUES('999d067cbb5a48989b7d978a680c11e2');
INSERT INTO "solution_cells" VALUES('28b448a4758148e09b5be11ace7c42a9');
INSERT INTO "solution_cells" VALUES('38d75407e43d40f2a3eb6dc2e1463448');
INSERT INTO "solution_cells" VALUES('7f4a89e02e5144fa8f9ef71a2fd1c616');
CREATE TABLE source_cell (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	locked BOOLEAN NOT NULL, 
	source TEXT, 
	checksum VARCHAR(128), 
	notebook_id VARCHAR(32), 
	PRIMARY KEY (id), 
	UNIQUE (name, notebook_id), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "source_cell" VALUES('9cefc812f0984e339ed704a394950f9b','attention-contextual_embedding-answer','code',0,'# katze: attention.contextual_embedding answer
def contextual_embedding(embeddings, position):
    """The embedding of one word, pulled towards the words it is related to.

    embeddings: [words, d_model], the stand-alone embeddings of a sentence
    position: which word, counted from 0
    returns: [d_model]
    """
    # YOUR CODE HERE
    raise NotImplementedError()','b83be875a205dfdfb49234855c79955a','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('dbd2216c1dc94c65905510d31d4cef66','attention-contextual_embedding-check','code',1,'# katze: attention.contextual_embedding check
check("attention.contextual_embedding")','529e427c8e1146e11f9be38bdfcbca4a','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('f8ad97ff51564e19abe6f486b9593ac5','attention-scores-answer','code',0,'# katze: attention.scores answer
def dot_product_scores(q, k):
    """The dot product of every query with every key.

    q: [..., queries, d_head]
    k: [..., keys, d_head]
    returns: [..., queries, keys]
    """
    # YOUR CODE HERE
    raise NotImplementedError()','6dfc4784747058acd30e6fe3a3cde63f','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('52a3756cb3f245468e6703a1ef0cb44c','attention-scores-check','code',1,'# katze: attention.scores check
check("attention.scores")','9458dd30bcf123fb11df37b26ab2dba6','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('ab535b688aaa4e7687a8cdeeea1a3326','attention-scale-answer','code',0,'# katze: attention.scale answer
def scale_scores(scores, d_head):
    """Scores divided by the square root of d_head.

    scores: [..., queries, keys]
    d_head: int, how many dimensions one query has
    returns: [..., queries, keys]
    """
    # YOUR CODE HERE
    raise NotImplementedError()','d215354692ad68d1b5f6661a2a200911','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('73d33982c60b4ac9b0a5709d4fe39f66','attention-scale-check','code',1,'# katze: attention.scale check
check("attention.scale")','3a27a2b9f706ff96a5c90331d81e1a6a','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('bbdc7c603ef346bfb3ea9f830a8cbba9','attention-weights-answer','code',0,'# katze: attention.weights answer
def attention_weights(scaled):
    """Softmax over the keys, safe for large scores.

    scaled: [..., queries, keys]
    returns: [..., queries, keys], each row non-negative and summing to 1
    """
    # YOUR CODE HERE
    raise NotImplementedError()','679d74adccbe996d7e2bcd7e24681aef','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('1d252ee1ad814b9582b36c92bd358502','attention-weights-check','code',1,'# katze: attention.weights check
check("attention.weights")','b3fb9b953b3644e20e9b6825bf25cbac','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('59b0d367ebfc4fb4b14796a44cb008fc','attention-output-answer','code',0,'# katze: attention.output answer
def weighted_values(alpha, v):
    """For each query the average of the values, weighted by its row of alpha.

    alpha: [..., queries, keys]
    v: [..., keys, d_value]
    returns: [..., queries, d_value]
    """
    # YOUR CODE HERE
    raise NotImplementedError()','55cd28cfd6a720a011f0e23473e4d8ce','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('e269e941de8740ba9633f1a403ac4489','attention-output-check','code',1,'# katze: attention.output check
check("attention.output")','635c247ddf7a5ce8d639ef848d189a85','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('82c245cd549a49939a4697c31a5be1aa','attention-scaled_dot_product-answer','code',0,'# katze: attention.scaled_dot_product answer
def scaled_dot_product_attention(q, k, v):
    """softmax(q kᵀ / √d_head) v

    q: [..., queries, d_head]
    k: [..., keys, d_head]
    v: [..., keys, d_value]
    returns: [..., queries, d_value]
    """
    # YOUR CODE HERE
    raise NotImplementedError()','88f1fc19a1a4921442c7d54ff9574f07','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('0b4bbf1ff0fa4713a075d9661ff831c4','attention-scaled_dot_product-check','code',1,'# katze: attention.scaled_dot_product check
check("attention.scaled_dot_product")','41a20f180b3f1e4e128bcad784c3bcf3','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('dcd82914b5d8428ab5a2451a74d9ee13','attention-dot_product_variance-answer','code',0,'# katze: attention.dot_product_variance answer
def dot_product_variance(q, k):
    """The unbiased variance, over the samples, of the dot product of each query with its own key.

    q: [samples, d_head]
    k: [samples, d_head]
    returns: a tensor of shape []
    """
    # YOUR CODE HERE
    raise NotImplementedError()','fec3b7d9538a2e7b1c41dc892a659032','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('2f602091cf894f5e80a241450f3a7cbe','attention-dot_product_variance-check','code',1,'# katze: attention.dot_product_variance check
check("attention.dot_product_variance")','5263530e6e587fc0b2ac62bf5607ece9','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('26e224d1dec941a6808f9ea9f4573a3e','attention-softmax_jacobian-answer','code',0,'# katze: attention.softmax_jacobian answer
def softmax_jacobian(scores):
    """The derivative of softmax: entry (i, j) is ∂alpha_i / ∂scores_j.

    scores: [..., keys]
    returns: [..., keys, keys]
    """
    # YOUR CODE HERE
    raise NotImplementedError()','14a52a1c57d34f18a0050504c1ec75cf','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('aedb389b19f849ddb3ebeac63ef9581f','attention-softmax_jacobian-check','code',1,'# katze: attention.softmax_jacobian check
check("attention.softmax_jacobian")','66c310c09c7c441cc39e50670c7a2f1c','994f7b1bef48498b99d60b7867c30846');
INSERT INTO "source_cell" VALUES('8a1b85283860487ca42c12bbe99eabf3','attention-why_scale-written','markdown',0,'<!-- katze: attention.why_scale written -->

YOUR ANSWER HERE','614109ed33954361faafe7f5cfa2dc93','994f7b1bef48498b99d60b7867c30846');
CREATE TABLE student (
	id VARCHAR(128) NOT NULL, 
	first_name VARCHAR(128), 
	last_name VARCHAR(128), 
	email VARCHAR(128), 
	lms_user_id VARCHAR(128), 
	PRIMARY KEY (id)
);
INSERT INTO "student" VALUES('ada',NULL,NULL,NULL,NULL);
INSERT INTO "student" VALUES('zora',NULL,NULL,NULL,NULL);
INSERT INTO "student" VALUES('hana',NULL,NULL,NULL,NULL);
CREATE TABLE submitted_assignment (
	id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32), 
	student_id VARCHAR(128), 
	timestamp DATETIME, 
	extension DATETIME, 
	PRIMARY KEY (id), 
	UNIQUE (assignment_id, student_id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	FOREIGN KEY(student_id) REFERENCES student (id)
);
INSERT INTO "submitted_assignment" VALUES('5f2c7d462a9540ab8df828ffd258caa6','8ad99b23c34a448192d3747edbb518e1','ada',NULL,NULL);
INSERT INTO "submitted_assignment" VALUES('1881a11f8b1041cfa9019e236e7ef5fb','8ad99b23c34a448192d3747edbb518e1','zora',NULL,NULL);
INSERT INTO "submitted_assignment" VALUES('4b91ef2db97e4134b8b13cc1774dbe62','8ad99b23c34a448192d3747edbb518e1','hana',NULL,NULL);
CREATE TABLE submitted_notebook (
	id VARCHAR(32) NOT NULL, 
	assignment_id VARCHAR(32), 
	notebook_id VARCHAR(32), 
	flagged BOOLEAN, 
	late_submission_penalty FLOAT, 
	PRIMARY KEY (id), 
	UNIQUE (notebook_id, assignment_id), 
	FOREIGN KEY(assignment_id) REFERENCES submitted_assignment (id), 
	FOREIGN KEY(notebook_id) REFERENCES notebook (id)
);
INSERT INTO "submitted_notebook" VALUES('fcc9ab15924549a78219c5d8fc25e34b','5f2c7d462a9540ab8df828ffd258caa6','994f7b1bef48498b99d60b7867c30846',0,NULL);
INSERT INTO "submitted_notebook" VALUES('89abc64749f24af1989cdb0858e1ab20','1881a11f8b1041cfa9019e236e7ef5fb','994f7b1bef48498b99d60b7867c30846',0,NULL);
INSERT INTO "submitted_notebook" VALUES('8423e1ed0d4543789ffe09b25ce01784','4b91ef2db97e4134b8b13cc1774dbe62','994f7b1bef48498b99d60b7867c30846',0,NULL);
CREATE TABLE task_cells (
	id VARCHAR(32) NOT NULL, 
	max_score FLOAT NOT NULL, 
	cell_type VARCHAR(8) NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(id) REFERENCES base_cell (id)
);
CREATE INDEX katze_event_of_student ON katze_event (lesson, student);
COMMIT;
